import { base, type Call, callsOf, type Document, ensuringOf, isEnsured, specificCodes } from '../document.ts';
import { answerOf, type PythonAnswer } from './answer.ts';
import type { Argument, Arguments } from './arguments.ts';
import type { MethodKind } from './kinds.ts';
import type { Records } from './records.ts';
import { constant, described, docstring, snake, union } from './words.ts';

/** The expectation of a call in an atomic batch. */
const expect: Argument = {
  json: 'expect',
  name: 'expect',
  type: 'Mapping[str, Any]',
  isRequired: false,
  description: undefined,
};

/** The parameters for the trace of a call. A batch, atomic or not, has them once for all of its calls. */
const traced = ['traceparent: str | None = None', 'tracestate: str | None = None'];

/** Writes the methods that make calls. */
export class Methods {
  readonly #document: Document;
  readonly #records: Records;
  readonly #arguments: Arguments;
  readonly #codesOf: (call: Call) => readonly string[];

  constructor(document: Document, records: Records, args: Arguments) {
    this.#document = document;
    this.#records = records;
    this.#arguments = args;
    this.#codesOf = specificCodes(document);
  }

  /** The method of a room's class that makes a call. */
  of(call: Call, kind: MethodKind): string {
    const answer = answerOf(call, this.#records, this.#document);
    if (answer.many === undefined)
      return this.#plain(call, kind, answer) + this.#iterator(call, kind, answer) + this.#ensuring(call, kind);
    // One record, or a list if `max` is given.
    const args = this.#arguments.of(call, kind);
    const single = args.filter(({ json }) => json !== 'max');
    const listed = args.map((one) => (one.json === 'max' ? { ...one, type: 'int', isRequired: true } : one));
    const required = [...listed.filter((one) => one.isRequired), ...listed.filter((one) => !one.isRequired)];
    const many = union([answer.many, 'None']);
    const stub = (list: readonly Argument[], type: string) =>
      `    @overload\n${this.#signature(call, kind, list, type)} ...`;
    const type = kind.isBatched
      ? `${kind.gives(answer.type)} | ${kind.gives(many)}`
      : kind.gives(union([...answer.type.split(' | '), ...many.split(' | ')]));
    const to = constant(call.operation.operationId);
    const prefix = kind.isAsync ? 'calls.' : '';
    return [
      stub(required, kind.gives(many)),
      stub(single, kind.gives(answer.type)),
      this.#signature(call, kind, args, type),
      this.#doc(call, kind, args),
      `        if max is ABSENT:`,
      `    ${this.#sends(call, kind, `${prefix}${to}`, single)}`,
      this.#sends(call, kind, `${prefix}${to}_MANY`, args),
    ].join('\n');
  }

  #plain(call: Call, kind: MethodKind, { type }: PythonAnswer): string {
    const args = [...this.#arguments.of(call, kind), ...(kind.isAtomic ? [expect] : [])];
    const to = `${kind.isAsync ? 'calls.' : ''}${constant(call.operation.operationId)}`;
    return [
      this.#signature(call, kind, args, kind.gives(type)),
      this.#doc(call, kind, args),
      this.#sends(call, kind, to, args),
    ].join('\n');
  }

  /** The iterator over all pages of a list. */
  #iterator(call: Call, kind: MethodKind, { page }: PythonAnswer): string {
    if (!page || kind.isBatched) return '';
    const args = this.#arguments.of(call, kind).filter(({ json }) => json !== 'cursor');
    const to = `${kind.isAsync ? 'calls.' : ''}${constant(call.operation.operationId)}`;
    const type = kind.isAsync ? 'AsyncIterator' : 'Iterator';
    const lines = this.#parameters(args).map((line) => `        ${line},`);
    return [
      '',
      '',
      `    def all(`,
      ...lines,
      `    ) -> ${type}[${page.type}]:`,
      docstring(
        ['Iterates over the items of `list` on all pages, each of `limit`, fetched when it is needed'],
        '        ',
      ),
      `        return self._all(${to}, '${page.json}', ${dict(args)})`,
    ].join('\n');
  }

  /** The method that finds a record by name or creates it. */
  #ensuring(call: Call, kind: MethodKind): string {
    if (kind.isBatched || !isEnsured(call, this.#document)) return '';
    const room = call.operation.operationId.split('.', 1)[0] ?? '';
    const list = callsOf(this.#document).find(({ operation }) => operation.operationId === `${room}.list`);
    const page = list && answerOf(list, this.#records, this.#document).page;
    const all = this.#arguments.of(call, kind);
    const args = room === 'mailbox' ? all.filter(({ json }) => json !== 'unique') : all;
    const prefix = kind.isAsync ? 'calls.' : '';
    const { summary, code } = ensuringOf(room);
    const known = args.filter((one) => one.description !== undefined);
    const text = [
      summary,
      'Several processes may do so at once: all get the same one.',
      ['Args:', ...known.flatMap((one) => described(one.name, one.description ?? '', '    '))],
      ...(code
        ? [
            [
              'Raises:',
              ...described('MusterError', `${code} if the existing one differs in any of these fields`, '    '),
            ],
          ]
        : []),
    ];
    const calls = ['create', 'list', ...(code ? [] : ['update'])];
    const [create = '', find = '', ...update] = calls.map((one) => `${prefix}${constant(`${room}.${one}`)}`);
    const takes = [create, find, `'${page?.json}'`, dict(args), ...update];
    return [
      '',
      '',
      `    ${kind.isAsync ? 'async def' : 'def'} ensure(`,
      ...this.#parameters(args).map((line) => `        ${line},`),
      `    ) -> ${page?.type}:`,
      docstring(text, '        '),
      `        return ${kind.isAsync ? 'await ' : ''}self._ensure(${takes.join(', ')})`,
    ].join('\n');
  }

  #parameters(args: readonly Argument[]): string[] {
    const declared = args.map(({ name, type, isRequired }) => `${name}: ${type}${isRequired ? '' : ' = ABSENT'}`);
    return declared.length === 0 ? ['self'] : ['self', '*', ...declared];
  }

  #signature({ method, operation }: Call, kind: MethodKind, args: readonly Argument[], type: string): string {
    const name = snake(operation.operationId.slice(operation.operationId.indexOf('.') + 1));
    const key = method === 'GET' || kind.isAtomic ? [] : ['idempotency_key: str = ABSENT'];
    const options = kind.isBatched
      ? key
      : [...key, 'attempts: int = ABSENT', 'retry_seconds: float = ABSENT', ...traced];
    const parameters = this.#parameters(args);
    const all = [...(parameters.length === 1 && options.length > 0 ? [...parameters, '*'] : parameters), ...options];
    const define = kind.isAsync ? 'async def' : 'def';
    return [`    ${define} ${name}(`, ...all.map((line) => `        ${line},`), `    ) -> ${type}:`].join('\n');
  }

  #sends({ method }: Call, kind: MethodKind, to: string, args: readonly Argument[]): string {
    if (kind.isAtomic) return `        return self._plan.add(${to}, ${dict(args)})`;
    if (kind.isBatched) return `        return self._batched(${to}, ${dict(args)}, idempotency_key)`;
    const send = kind.isAsync ? 'await self._send' : 'self._send';
    const key = method === 'GET' ? 'ABSENT' : 'idempotency_key';
    return `        return ${send}(${to}, ${dict(args)}, ${key}, attempts, retry_seconds, TraceContext(traceparent, tracestate))`;
  }

  #doc(call: Call, kind: MethodKind, args: readonly Argument[]): string {
    const { summary, description } = call.operation;
    if (kind.isBatched) return docstring([summary], '        ');
    const known = args.filter((one) => one.description !== undefined);
    const lines = known.flatMap((one) => described(one.name, one.description ?? '', '    '));
    const codes = this.#codesOf(call);
    return docstring(
      [
        summary,
        ...(description === undefined ? [] : [description]),
        `\`${call.method} ${base}${call.path}\``,
        ...(lines.length > 0 ? [['Args:', ...lines]] : []),
        ...(codes.length > 0 ? [['Raises:', ...described('MusterError', codes.join(', '), '    ')]] : []),
      ],
      '        ',
    );
  }
}

const dict = (args: readonly Argument[]): string =>
  `{${args.map(({ json, name }) => `'${json}': ${name}`).join(', ')}}`;
