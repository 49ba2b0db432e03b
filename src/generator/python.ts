// The Python client's modules for an OpenAPI document: records, calls, and the calls as asyncio programs make them.

type Json = Record<string, unknown>;

interface Schema extends Json {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly type?: string | readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly format?: string;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Response {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: { readonly 'application/json'?: { readonly schema: Schema } };
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Document {
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Call {
  readonly method: string;
  /** Relative to the space; of a call that is not of one space, relative to /v1/spaces. */
  readonly path: string;
  readonly operation: Operation;
}

const spaces = '/v1/spaces';
const keywords = new Set(['from', 'global', 'import', 'class', 'is', 'in', 'not', 'pass', 'with', 'def', 'del']);

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `leaseExpiresAt` as Python spells it. */
function snake(name: string): string {
  const spelled = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  return keywords.has(spelled) ? `${spelled}_` : spelled;
}

const refName = (ref: string): string => ref.split('/').at(-1) ?? '';
const literal = (value: unknown): string => `'${String(value)}'`;
const union = (types: readonly string[]): string => {
  const all = [...new Set(types)].sort((a, b) => Number(a === 'None') - Number(b === 'None'));
  return all.includes('Any') ? 'Any' : all.join(' | ');
};

function wrapped(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

/** A docstring: paragraphs, or lines that are kept as they are. */
function docstring(paragraphs: readonly (string | readonly string[])[], indent: string): string {
  const lines = paragraphs.flatMap((part, i) => [
    ...(i > 0 ? [''] : []),
    ...(typeof part === 'string' ? wrapped(part, 98 - indent.length) : part),
  ]);
  const safe = lines
    .map((line) => (line === '' ? '' : indent + line.replaceAll('\\', '\\\\')))
    .map((line) => line.trimEnd());
  const [first = '', ...rest] = safe;
  if (rest.length === 0) return `${indent}"""${sentence(first.trim())}"""`;
  return `${indent}"""${first.trim()}\n${rest.join('\n')}\n${indent}"""`;
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** `a: what it is`, with the following lines indented. */
function described(name: string, text: string, indent: string): string[] {
  return wrapped(`${name}: ${text}`, 90 - indent.length).map((line, i) => `${indent}${i > 0 ? '    ' : ''}${line}`);
}

/** Classes for the records that calls answer, made as they are met. */
class Records {
  readonly #schemas: Document['components']['schemas'];
  readonly #classes = new Map<string, string>();

  constructor(schemas: Document['components']['schemas']) {
    this.#schemas = schemas;
  }

  get text(): string {
    return [...this.#classes.values()].join('\n\n\n');
  }

  get names(): string[] {
    return [...this.#classes.keys()].sort();
  }

  /** The type of a value in an answer. `name`: what a class for it is called. */
  typeOf(schema: Schema, name: string): string {
    if (schema.$ref !== undefined) return this.#named(refName(schema.$ref));
    const either = schema.anyOf ?? schema.oneOf;
    if (either) return union(either.map((one) => this.typeOf(one, name)));
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
    if (schema.enum) {
      const values = schema.enum.filter((value) => value !== null).map(literal);
      return union([`Literal[${values.join(', ')}]`, ...(schema.enum.includes(null) ? ['None'] : [])]);
    }
    const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
    if (types.length === 0) return 'Any';
    return union(types.map((type) => this.#simple(type, schema, name)));
  }

  /** What a value holds that is a record; undefined if it is none, nor a list of such. */
  recordIn(schema: Schema, name: string): string | undefined {
    const found = /^(?:list\[)?([A-Z]\w*)\]?(?: \| None)?$/.exec(this.typeOf(schema, name))?.[1];
    return found !== undefined && this.#classes.has(found) ? found : undefined;
  }

  #simple(type: string, schema: Schema, name: string): string {
    if (type === 'object') return this.#object(schema, name);
    if (type === 'array') return `list[${this.typeOf(schema.items ?? {}, name.replace(/s$/, ''))}]`;
    return { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' }[type] ?? 'Any';
  }

  #object(schema: Schema, name: string): string {
    const fields = Object.entries(schema.properties ?? {});
    const [value] = Object.values(schema.patternProperties ?? {});
    if (fields.length === 0) return `dict[str, ${value ? this.typeOf(value, name) : 'Any'}]`;
    // Counts by state or by event type: their keys are values, not names.
    if (fields.some(([field]) => !/^[a-z]\w*$/.test(field)))
      return `dict[str, ${union(fields.map(([, one]) => this.typeOf(one, name)))}]`;
    return this.#class(name, schema);
  }

  #named(name: string): string {
    const schema = this.#schemas[name] ?? {};
    if (name === 'Event') return this.#class(name, merged((schema.oneOf ?? []).map((one) => this.resolved(one))));
    return this.typeOf(schema, name);
  }

  /** What a reference names. */
  resolved(schema: Schema): Schema {
    return schema.$ref === undefined ? schema : (this.#schemas[refName(schema.$ref)] ?? {});
  }

  #class(name: string, schema: Schema): string {
    if (this.#classes.has(name)) return name;
    this.#classes.set(name, '');
    const nested: string[] = [];
    const fields = Object.entries(schema.properties ?? {}).flatMap(([field, one]) => {
      const inner = name + capital(field);
      const type = this.typeOf(one, inner);
      const record = this.recordIn(one, inner);
      if (record !== undefined) nested.push(`        '${field}': ${record},`);
      const text = one.description === undefined ? [] : [docstring([one.description], '    ')];
      return [`    ${snake(field)}: ${type}`, ...text];
    });
    const records = nested.length === 0 ? [] : ['    _records = {', ...nested, '    }'];
    const about = schema.description ?? `A record of the API: \`${name}\``;
    const lines = [`class ${name}(Record):`, docstring([about], '    '), '    __slots__ = ()', ...records, ...fields];
    // In the order of their dependencies: a class is written once all that it names is.
    this.#classes.delete(name);
    this.#classes.set(name, lines.join('\n'));
    return name;
  }
}

/** One schema for all events: their types together, and a payload that is plain JSON. */
function merged(all: readonly Schema[]): Schema {
  const [first = {}] = all;
  const enumOf = (name: string) => [...new Set(all.flatMap((one) => one.properties?.[name]?.enum ?? []))];
  const properties: Record<string, Schema> = { ...first.properties, payload: { type: 'object' } };
  for (const name of ['type', 'aggregate']) properties[name] = { type: 'string', enum: enumOf(name) };
  const isNullable = all.some((one) => JSON.stringify(one.properties?.['scopeId'] ?? null).includes('null'));
  const isAbsent = all.some((one) => one.properties?.['scopeId'] === undefined);
  if (isNullable || isAbsent) properties['scopeId'] = { type: ['string', 'null'] };
  return { ...first, description: 'An event of the journal; `payload` is as the reference describes it', properties };
}

interface Argument {
  readonly json: string;
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string | undefined;
}

/** Types of arguments, and the classes of those that are objects. */
class Arguments {
  readonly #records: Records;
  readonly #classes = new Map<string, string>();

  constructor(records: Records) {
    this.#records = records;
  }

  get text(): string {
    return [...this.#classes.values()].join('\n\n\n');
  }

  get names(): string[] {
    return [...this.#classes.keys()].sort();
  }

  of({ path, operation }: Call, isBatched: boolean): Argument[] {
    const argument = (
      json: string,
      schema: Schema,
      isRequired: boolean,
      description = schema.description,
    ): Argument => ({
      json,
      name: snake(json),
      type: this.#typeOf(schema, json, capitalized(operation.operationId) + capital(json)),
      isRequired,
      description,
    });
    const parameters = (operation.parameters ?? []).filter(({ $ref }) => $ref === undefined);
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, json = '']) =>
      argument(json, { type: 'string', format: 'uuid' }, true),
    );
    const inQuery = parameters
      .filter((one) => one.in === 'query')
      .map(({ name, schema, required = false, description }) => argument(name, schema, required, description));
    const body = this.#records.resolved(operation.requestBody?.content['application/json'].schema ?? {});
    const inBody = Object.entries(body.properties ?? {}).map(([json, schema]) =>
      argument(json, schema, (body.required ?? []).includes(json)),
    );
    const all = [...inPath, ...inQuery, ...inBody].filter(({ json }) => !isBatched || json !== 'waitSeconds');
    return [...all.filter(({ isRequired }) => isRequired), ...all.filter(({ isRequired }) => !isRequired)];
  }

  #typeOf(schema: Schema, json: string, name: string): string {
    const either = schema.anyOf ?? schema.oneOf;
    if (either) return union(either.map((one) => this.#typeOf(one, json, name)));
    if (schema.enum) {
      const values = schema.enum.filter((value) => value !== null).map(literal);
      return union([`Literal[${values.join(', ')}]`, ...(schema.enum.includes(null) ? ['None'] : [])]);
    }
    const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
    if (types.length === 0) return 'Any';
    return union(types.map((type) => this.#simple(type, schema, json, name)));
  }

  #simple(type: string, schema: Schema, json: string, name: string): string {
    if (type === 'string') {
      if (schema.format === 'uuid') return 'Id';
      if (schema.format === 'date-time') return 'Moment';
      return json.endsWith('Minor') ? 'Amount' : 'str';
    }
    if (type === 'array') return `Sequence[${this.#typeOf(schema.items ?? {}, json, name)}]`;
    if (type === 'object' && schema.properties) return this.#class(name, schema);
    return { integer: 'int', number: 'float', boolean: 'bool', null: 'None' }[type] ?? 'Mapping[str, Any]';
  }

  #class(name: string, schema: Schema): string {
    const fields = Object.entries(schema.properties ?? {}).map(([json, one]) => {
      const type = this.#typeOf(one, json, name + capital(json));
      return `    ${json}: ${(schema.required ?? []).includes(json) ? type : `NotRequired[${type}]`}`;
    });
    const about = `An argument, with the API's names: \`${name}\``;
    this.#classes.set(name, [`class ${name}(TypedDict):`, docstring([about], '    '), '', ...fields].join('\n'));
    return name;
  }
}

const capitalized = (operationId: string): string => operationId.split('.').map(capital).join('');

/** What an answer that has no name of its own is called. */
function answerName(operationId: string): string {
  const [room = '', call = ''] = operationId.split('.');
  return call === 'get' ? capital(room) : capitalized(operationId);
}

interface Failure {
  readonly code: string;
  readonly status: string;
}

function failuresOf({ operation }: Call, { components }: Document): Failure[] {
  return Object.entries(operation.responses).flatMap(([status, { $ref, description }]) => {
    if (status < '300') return [];
    const text = $ref === undefined ? description : components.responses[refName($ref)]?.description;
    return [...(text ?? '').matchAll(/^- `(\w+)`:/gm)].map(([, code = '']) => ({ code, status }));
  });
}

/** What a call answers: the type, the classes that read it, and the list if it is a page of one. */
interface Answer {
  readonly type: string;
  readonly record: string;
  /** Of a call that answers a list where it is given `max`. */
  readonly many?: string;
  readonly page?: { readonly json: string; readonly type: string };
}

function answerOf({ operation }: Call, records: Records): Answer {
  const { responses, operationId } = operation;
  const success = Object.entries(responses).filter(([status]) => status < '300');
  const schema = success.map(([, one]) => one.content?.['application/json']?.schema).find((one) => one !== undefined);
  const isSometimesNone = success.some(([status]) => status === '204');
  if (schema === undefined) return { type: 'None', record: 'None' };
  const name = answerName(operationId);
  const [one, list] = schema.anyOf ?? [];
  if (one && list) {
    const [single, many] = [records.typeOf(one, name), records.typeOf(list, `${name}Many`)];
    return { type: union([single, 'None']), record: single, many };
  }
  const record = records.typeOf(schema, name);
  const { properties = {} } = records.resolved(schema);
  const [plural, items] = Object.entries(properties).find(([, field]) => field.type === 'array') ?? [];
  const cursor = properties['nextCursor'];
  const page =
    operationId.endsWith('.list') && cursor && plural && items?.items
      ? { json: plural, type: records.typeOf(items.items, name) }
      : undefined;
  return { type: union([record, ...(isSometimesNone ? ['None'] : [])]), record, ...(page && { page }) };
}

/** How calls are made: at once, in a batch, or in an asyncio program. */
interface Kind {
  /** The class of a room's calls, and its base. */
  readonly suffix: string;
  readonly base: string;
  readonly isBatched: boolean;
  readonly isAsync: boolean;
  readonly gives: (type: string) => string;
}

const alone: Kind = { suffix: 'Calls', base: 'Calls', isBatched: false, isAsync: false, gives: (type) => type };
const inBatch: Kind = {
  suffix: 'InBatch',
  base: 'CallsInBatch',
  isBatched: true,
  isAsync: false,
  gives: (type) => `BatchedCall[${type}]`,
};
const inAsync: Kind = {
  suffix: 'AsyncCalls',
  base: 'AsyncCalls',
  isBatched: false,
  isAsync: true,
  gives: (type) => type,
};

class PythonClient {
  readonly #document: Document;
  readonly #calls: readonly Call[];
  readonly #batched: ReadonlySet<string>;
  readonly #commonCodes: ReadonlySet<string>;
  readonly #records: Records;
  readonly #arguments: Arguments;

  constructor(document: Document) {
    this.#document = document;
    this.#records = new Records(document.components.schemas);
    this.#arguments = new Arguments(this.#records);
    this.#calls = Object.entries(document.paths)
      .filter(([path]) => path.startsWith(spaces))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({
          method: method.toUpperCase(),
          path: path.slice(spaces.length).replace('/{spaceId}', ''),
          operation,
        })),
      )
      // A call of no primitive, batch, is written by hand.
      .filter(({ operation }) => operation.operationId.includes('.'));
    const { oneOf = [] } = document.components.schemas['Call'] ?? {};
    this.#batched = new Set(oneOf.map(({ $ref = '' }) => refName($ref)));
    const codes = this.#calls.map((call) => failuresOf(call, document).map(({ code }) => code));
    this.#commonCodes = new Set(codes[0]?.filter((code) => codes.every((list) => list.includes(code))));
  }

  texts(): Record<string, string> {
    const endpoints = this.#calls.map((call) => this.#endpoints(call)).join('\n');
    const calls = this.#rooms(alone);
    const batched = this.#rooms(inBatch);
    const asynchronous = this.#rooms(inAsync);
    const facades = [alone, inBatch, inAsync].map((kind) => this.#facade(kind));
    const codes = [...new Set(this.#calls.flatMap((call) => failuresOf(call, this.#document).map(({ code }) => code)))];
    const all = [...this.#records.names, ...this.#arguments.names].sort();
    const shared = '_arguments import ABSENT, Amount, Id, Moment';
    const imports = (names: readonly string[], text: string) =>
      names.filter((name) => new RegExp(`\\b${name}\\b`).test(text)).map((name) => `    ${name},`);
    const callsText = [endpoints, calls, batched, facades[0], facades[1]].join('\n\n\n');
    const asyncText = [asynchronous, facades[2]].join('\n\n\n');
    return {
      _records: [
        head('The records that calls answer, and the arguments that are objects.'),
        'from __future__ import annotations\n',
        'from typing import TYPE_CHECKING, Any, Literal, TypedDict\n',
        'from ._record import Record\n',
        'if TYPE_CHECKING:\n    from typing_extensions import NotRequired\n\n    from ._arguments import Id\n',
        `__all__ = [\n    'ErrorCode',\n${all.map((name) => `    '${name}',`).join('\n')}\n]\n`,
        '',
        `ErrorCode = Literal[\n${codes
          .sort()
          .map((code) => `    '${code}',`)
          .join('\n')}\n]`,
        docstring(['The possible values of `code` in an error answer'], ''),
        '\n',
        this.#records.text,
        '\n',
        `${this.#arguments.text}\n`,
      ].join('\n'),
      _calls: [
        head('Every call of the API, by primitive.'),
        'from __future__ import annotations\n',
        'from collections.abc import Iterator, Sequence',
        'from typing import Any, Literal, overload\n',
        `from .${shared}`,
        'from ._base import BatchedCall, Calls, CallsInBatch, Endpoint, Sender',
        `from ._records import (\n${imports(all, callsText).join('\n')}\n)\n`,
        '',
        `${callsText}\n`,
      ].join('\n'),
      _async_calls: [
        head('Every call of the API, by primitive, for asyncio programs.'),
        'from __future__ import annotations\n',
        'from collections.abc import AsyncIterator, Sequence',
        'from typing import Any, Literal, overload\n',
        'from . import _calls as calls',
        `from .${shared}`,
        'from ._base import AsyncCalls, AsyncSender',
        `from ._records import (\n${imports(all, asyncText).join('\n')}\n)\n`,
        '',
        `${asyncText}\n`,
      ].join('\n'),
    };
  }

  #endpoints(call: Call): string {
    const { method, path, operation } = call;
    const { type, record, many } = answerOf(call, this.#records);
    const name = constant(operation.operationId);
    const target = (endpoint: string, answer: string, reads: string) =>
      `${endpoint}: Endpoint[${answer}] = Endpoint('${operation.operationId}', '${method}', '${path}', ${reads}${operation.operationId === 'space.list' ? ', in_space=False' : ''})`;
    const one = target(name, type, record);
    return many === undefined ? one : `${one}\n${target(`${name}_MANY`, union([many, 'None']), many)}`;
  }

  #ofKind(kind: Kind): Call[] {
    return this.#calls.filter(({ operation }) => !kind.isBatched || this.#batched.has(operation.operationId));
  }

  #roomsOf(kind: Kind): string[] {
    return [...new Set(this.#ofKind(kind).map(({ operation }) => operation.operationId.split('.', 1)[0] ?? ''))];
  }

  #rooms(kind: Kind): string {
    return this.#roomsOf(kind)
      .map((room) => {
        const ofRoom = this.#ofKind(kind).filter(({ operation }) => operation.operationId.startsWith(`${room}.`));
        const what = kind.isBatched ? 'calls for a batch' : 'calls';
        return [
          `class ${capital(room)}${kind.suffix}(${kind.base}):`,
          docstring([`The ${what} \`${room}.…\``], '    '),
          '',
          ofRoom.map((call) => this.#method(call, kind)).join('\n\n'),
        ].join('\n');
      })
      .join('\n\n\n');
  }

  #facade(kind: Kind): string {
    const name = { Calls: 'AllCalls', InBatch: 'AllCallsInBatch', AsyncCalls: 'AllAsyncCalls' }[kind.suffix];
    const rooms = this.#roomsOf(kind);
    const sender = kind.isAsync ? 'AsyncSender' : 'Sender';
    const about = kind.isBatched
      ? 'Every call that a batch takes, by primitive: `muster.call.message.send(…)` sends nothing yet'
      : 'Every call of the API, by primitive';
    const sent = kind.isBatched ? '' : 'sender';
    return [
      `class ${name}:`,
      docstring([about], '    '),
      '',
      `    def __init__(self${sent && `, sender: ${sender}`}) -> None:`,
      ...rooms.map((room) => `        self.${room} = ${capital(room)}${kind.suffix}(${sent})`),
    ].join('\n');
  }

  #method(call: Call, kind: Kind): string {
    const answer = answerOf(call, this.#records);
    if (answer.many === undefined) return this.#plain(call, kind, answer) + this.#iterator(call, kind, answer);
    // One record, or a list where it is given `max`.
    const args = this.#arguments.of(call, kind.isBatched);
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
      `    ${this.#sends(kind, `${prefix}${to}`, single)}`,
      this.#sends(kind, `${prefix}${to}_MANY`, args),
    ].join('\n');
  }

  #plain(call: Call, kind: Kind, { type }: Answer): string {
    const args = this.#arguments.of(call, kind.isBatched);
    const to = `${kind.isAsync ? 'calls.' : ''}${constant(call.operation.operationId)}`;
    return [
      this.#signature(call, kind, args, kind.gives(type)),
      this.#doc(call, kind, args),
      this.#sends(kind, to, args),
    ].join('\n');
  }

  /** The iterator over all pages of a list. */
  #iterator(call: Call, kind: Kind, { page }: Answer): string {
    if (!page || kind.isBatched) return '';
    const args = this.#arguments.of(call, false).filter(({ json }) => json !== 'cursor' && json !== 'limit');
    const to = `${kind.isAsync ? 'calls.' : ''}${constant(call.operation.operationId)}`;
    const type = kind.isAsync ? 'AsyncIterator' : 'Iterator';
    const lines = this.#parameters(args).map((line) => `        ${line},`);
    return [
      '',
      '',
      `    def all(`,
      ...lines,
      `    ) -> ${type}[${page.type}]:`,
      docstring([`All of \`list\`, page by page, as they are read`], '        '),
      `        return self._all(${to}, '${page.json}', ${dict(args)})`,
    ].join('\n');
  }

  #parameters(args: readonly Argument[]): string[] {
    const declared = args.map(({ name, type, isRequired }) => `${name}: ${type}${isRequired ? '' : ' = ABSENT'}`);
    return declared.length === 0 ? ['self'] : ['self', '*', ...declared];
  }

  #signature({ method, operation }: Call, kind: Kind, args: readonly Argument[], type: string): string {
    const name = snake(operation.operationId.slice(operation.operationId.indexOf('.') + 1));
    const key = method === 'GET' ? [] : ['idempotency_key: str = ABSENT'];
    const options = kind.isBatched ? key : [...key, 'attempts: int = ABSENT'];
    const parameters = this.#parameters(args);
    const all = [...(parameters.length === 1 && options.length > 0 ? [...parameters, '*'] : parameters), ...options];
    const define = kind.isAsync ? 'async def' : 'def';
    return [`    ${define} ${name}(`, ...all.map((line) => `        ${line},`), `    ) -> ${type}:`].join('\n');
  }

  #sends(kind: Kind, to: string, args: readonly Argument[]): string {
    if (kind.isBatched) return `        return self._batched(${to}, ${dict(args)}, idempotency_key)`;
    const send = kind.isAsync ? 'await self._send' : 'self._send';
    const isRead = this.#calls.some(
      ({ method, operation }) => method === 'GET' && to.endsWith(constant(operation.operationId)),
    );
    return `        return ${send}(${to}, ${dict(args)}, ${isRead ? 'ABSENT' : 'idempotency_key'}, attempts)`;
  }

  #doc(call: Call, kind: Kind, args: readonly Argument[]): string {
    const { summary, description } = call.operation;
    if (kind.isBatched) return docstring([summary], '        ');
    const known = args.filter((one) => one.description !== undefined);
    const lines = known.flatMap((one) => described(one.name, one.description ?? '', '    '));
    const codes = [...new Set(failuresOf(call, this.#document).map(({ code }) => code))];
    const specific = codes.filter((code) => !this.#commonCodes.has(code));
    const spaced = call.operation.operationId === 'space.list' ? '' : '/{spaceId}';
    return docstring(
      [
        summary,
        ...(description === undefined ? [] : [description]),
        `\`${call.method} ${spaces}${spaced}${call.path}\``,
        ...(lines.length > 0 ? [['Args:', ...lines]] : []),
        ...(specific.length > 0 ? [['Raises:', ...described('MusterError', specific.join(', '), '    ')]] : []),
      ],
      '        ',
    );
  }
}

/** `message.send` as a constant of the module. */
const constant = (operationId: string): string => snake(operationId.replace('.', '_')).toUpperCase();

const dict = (args: readonly Argument[]): string =>
  `{${args.map(({ json, name }) => `'${json}': ${name}`).join(', ')}}`;

const head = (what: string): string =>
  `# Generated from the OpenAPI document by \`npm run generate\`.\n"""${what}"""\n`;

/** The generated modules of the Python client, by name. */
export function pythonTexts(openapi: object): Record<string, string> {
  return new PythonClient(JSON.parse(JSON.stringify(openapi)) as Document).texts();
}
