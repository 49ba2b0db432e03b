// The Python client's modules for an OpenAPI document: records, calls, and calls for asyncio programs.
import { allFailures, type Call, callsOf, type Document, space } from '../document.ts';
import { answerOf } from './answer.ts';
import { Arguments } from './arguments.ts';
import { Keywords } from './keywords.ts';
import { alone, inAsync, inAtomic, inBatch, type MethodKind } from './kinds.ts';
import { Methods } from './methods.ts';
import { Records } from './records.ts';
import { capital, constant, docstring, union } from './words.ts';

class PythonClient {
  readonly #document: Document;
  readonly #calls: readonly Call[];
  readonly #records: Records;
  readonly #arguments: Arguments;
  readonly #methods: Methods;

  constructor(document: Document) {
    this.#document = document;
    this.#records = new Records(document);
    this.#arguments = new Arguments(document);
    this.#methods = new Methods(document, this.#records, this.#arguments);
    // Calls outside primitives, such as batch, are written by hand.
    this.#calls = callsOf(document).filter(({ operation }) => operation.operationId.includes('.'));
  }

  texts(): Record<string, string> {
    const endpoints = this.#calls.map((call) => this.#endpoints(call)).join('\n');
    const calls = this.#rooms(alone);
    const batched = this.#rooms(inBatch);
    const atomic = this.#rooms(inAtomic);
    const asynchronous = this.#rooms(inAsync);
    const facades = [alone, inBatch, inAtomic].map((kind) => this.#facade(kind));
    const codes = allFailures(this.#document).map(({ code }) => `    '${code}',`);
    const keywords = new Keywords(this.#calls, this.#arguments);
    const all = [...this.#records.names, ...this.#arguments.names, ...keywords.names].sort();
    const shared = (text: string): string => {
      const used = ['ABSENT', 'After', 'Amount', 'From', 'Id', 'Moment'].filter((name) =>
        new RegExp(`(: |[|=] |\\[)${name}\\b`).test(text),
      );
      return `_arguments import ${used.join(', ')}`;
    };
    const imports = (names: readonly string[], text: string) =>
      names.filter((name) => new RegExp(`\\b${name}\\b`).test(text)).map((name) => `    ${name},`);
    const callsText = [endpoints, calls, batched, atomic, ...facades].join('\n\n\n');
    const asyncText = [asynchronous, this.#facade(inAsync)].join('\n\n\n');
    return {
      _records: [
        head('The records that calls return, and the arguments that are objects.'),
        'from __future__ import annotations\n',
        'from typing import TYPE_CHECKING, Any, Literal, TypedDict\n',
        'from ._record import Record\n',
        'if TYPE_CHECKING:\n    from collections.abc import Sequence\n\n    from typing_extensions import NotRequired\n\n    from ._arguments import After, Id, Moment\n',
        `__all__ = [\n    'ErrorCode',\n${all.map((name) => `    '${name}',`).join('\n')}\n]\n`,
        '',
        `ErrorCode = Literal[\n${codes.join('\n')}\n]`,
        docstring(['The possible values of `code` in an error response'], ''),
        '\n',
        this.#records.text,
        '\n',
        this.#arguments.text,
        '\n',
        `${keywords.text}\n`,
      ].join('\n'),
      _calls: [
        head('Every call of the API, by primitive.'),
        'from __future__ import annotations\n',
        'from collections.abc import Iterator, Mapping, Sequence',
        'from typing import Any, Literal, overload\n',
        `from .${shared(callsText)}`,
        'from ._base import BatchedCall, Calls, CallsInAtomic, CallsInBatch, Endpoint, PendingCall, Plan, Sender',
        `from ._records import (\n${imports(all, callsText).join('\n')}\n)`,
        'from ._tracing import TraceContext\n',
        '',
        `${callsText}\n`,
      ].join('\n'),
      _async_calls: [
        head('Every call of the API, by primitive, for asyncio programs.'),
        'from __future__ import annotations\n',
        'from collections.abc import AsyncIterator, Sequence',
        'from typing import Any, Literal, overload\n',
        'from . import _calls as calls',
        `from .${shared(asyncText)}`,
        'from ._base import AsyncCalls, AsyncSender',
        `from ._records import (\n${imports(all, asyncText).join('\n')}\n)`,
        'from ._tracing import TraceContext\n',
        '',
        `${asyncText}\n`,
      ].join('\n'),
    };
  }

  #endpoints(call: Call): string {
    const { method, path, operation } = call;
    const { type, record, many } = answerOf(call, this.#records, this.#document);
    const name = constant(operation.operationId);
    const outside = path.startsWith(space) ? '' : ', in_space=False';
    const target = (endpoint: string, answer: string, reads: string) =>
      `${endpoint}: Endpoint[${answer}] = Endpoint('${operation.operationId}', '${method}', '${path.replace(space, '')}', ${reads}${outside})`;
    const one = target(name, type, record);
    return many === undefined ? one : `${one}\n${target(`${name}_MANY`, union([many, 'None']), many)}`;
  }

  #ofKind(kind: MethodKind): Call[] {
    const taken = kind.taken?.(this.#document);
    return this.#calls.filter(({ operation }) => taken?.has(operation.operationId) ?? true);
  }

  #roomsOf(kind: MethodKind): string[] {
    return [...new Set(this.#ofKind(kind).map(({ operation }) => operation.operationId.split('.', 1)[0] ?? ''))];
  }

  #rooms(kind: MethodKind): string {
    return this.#roomsOf(kind)
      .map((room) => {
        const ofRoom = this.#ofKind(kind).filter(({ operation }) => operation.operationId.startsWith(`${room}.`));
        const what = kind.isAtomic ? 'calls for an atomic batch' : kind.isBatched ? 'calls for a batch' : 'calls';
        return [
          `class ${capital(room)}${kind.suffix}(${kind.base}):`,
          docstring([`The ${what} \`${room}.…\``], '    '),
          '',
          ofRoom.map((call) => this.#methods.of(call, kind)).join('\n\n'),
        ].join('\n');
      })
      .join('\n\n\n');
  }

  #facade(kind: MethodKind): string {
    const { all, about, passes, suffix } = kind;
    const parameter = passes ? `, ${passes.name}: ${passes.type}` : '';
    return [
      `class ${all}:`,
      docstring([about], '    '),
      '',
      `    def __init__(self${parameter}) -> None:`,
      ...this.#roomsOf(kind).map((room) => `        self.${room} = ${capital(room)}${suffix}(${passes?.name ?? ''})`),
    ].join('\n');
  }
}

const head = (what: string): string =>
  `# Generated from the OpenAPI document by \`npm run generate\`.\n"""${what}"""\n`;

/** The generated modules of the Python client, by name. */
export function pythonTexts(openapi: object): Record<string, string> {
  return new PythonClient(JSON.parse(JSON.stringify(openapi)) as Document).texts();
}
