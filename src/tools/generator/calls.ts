import openapiTypes, { astToString } from 'openapi-typescript';
import {
  allFailures,
  atomicCalls,
  base,
  batchedCalls,
  type Call,
  type Content,
  callsOf,
  type Document,
  ensuringOf,
  isEnsured,
  makesNamed,
  resolved,
  type Schema,
  space,
  specificCodes,
  wrapped,
} from './document.ts';

type Json = Record<string, unknown>;

/** The document without the parts that the client handles itself (space, headers, errors) and without webhooks. */
function forTypes(document: Document): Json {
  const paths: Record<string, Json> = {};
  for (const { method, path, operation } of callsOf(document)) {
    const parameters = (operation.parameters ?? []).filter(({ $ref }) => $ref === undefined);
    const responses = Object.entries(operation.responses)
      .filter(([status]) => status < '300')
      .map(([status, response]) => [status, { ...response, headers: {} }]);
    const reduced = { ...operation, parameters, responses: Object.fromEntries(responses) };
    paths[path] = { ...paths[path], [method.toLowerCase()]: reduced };
  }
  const { Error: _, ...schemas } = document.components.schemas;
  return { ...document, webhooks: {}, paths, components: { schemas } };
}

/** A JSDoc comment of these paragraphs. */
function comment(paragraphs: readonly string[], indent: string): string {
  const width = 118 - indent.length;
  const lines = paragraphs.flatMap((text, i) => [
    ...(i > 0 ? [''] : []),
    ...wrapped(text.replaceAll('*/', '*\\/'), width - 3),
  ]);
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`].join('\n');
}

/** The type parameters for opaque JSON values in a call's arguments or answer. */
function opaquesIn(contents: readonly Content[], document: Document): string[] {
  const found = new Set<string>();
  const seen = new Set<string>();
  const parameters: Record<string, string> = {
    payload: 'Payload',
    input: 'Payload',
    result: 'Result',
    outcome: 'Result',
  };
  const walk = (schema: Schema, inResult: boolean): void => {
    const { $ref, items, anyOf = [], properties = {} } = schema;
    if ($ref !== undefined && !seen.has($ref)) {
      seen.add($ref);
      walk(resolved(schema, document), inResult);
    }
    for (const one of [...anyOf, ...(items ? [items] : [])]) walk(one, inResult);
    for (const [name, field] of Object.entries(properties)) {
      const isOpaque = !['type', 'anyOf', 'enum', 'const', '$ref'].some((key) => key in field);
      const parameter = parameters[name];
      if (isOpaque && parameter !== undefined) found.add(inResult ? 'Result' : parameter);
      walk(field, inResult || name === 'result');
    }
  };
  for (const { content } of contents)
    if (content?.['application/json']) walk(content['application/json'].schema, false);
  return ['Payload', 'Result'].filter((name) => found.has(name));
}

/** The list of a call that answers pages: its name, and the name of the iterator over all pages. */
function pagesOf({ method, operation }: Call, document: Document) {
  const schema = operation.responses['200']?.content?.['application/json']?.schema ?? {};
  const { properties } = resolved(schema, document);
  const cursor = properties?.['nextCursor'];
  const isList = operation.operationId.endsWith('.list');
  const isEndless = cursor !== undefined && !JSON.stringify(cursor).includes('null');
  const [list] =
    Object.entries(properties ?? {}).find(([, field]) => field.type === 'array' && field.items?.$ref) ?? [];
  if (method !== 'GET' || !cursor || list === undefined || (isEndless && !isList)) return undefined;
  return { list, iterator: isList ? 'all' : list };
}

/** Whether a call has no required arguments. */
function needsNothing({ path, operation: { parameters = [], requestBody } }: Call, document: Document): boolean {
  const { required = [] } = resolved(requestBody?.content['application/json']?.schema ?? {}, document);
  return !path.replace(space, '').includes('{') && !parameters.some((one) => one.required) && required.length === 0;
}

/** Whether a call answers one record, or a list if `max` is given. */
function listsWithMax({ operation }: Call): boolean {
  return operation.responses['200']?.content?.['application/json']?.schema.anyOf !== undefined;
}

/** The parameters and the answer of a call: on its own, in a batch or in an atomic batch. */
interface CallKind {
  readonly args: string;
  readonly options: string;
  readonly result: string;
}

const alone: CallKind = { args: 'Args', options: 'CallOptions', result: 'Promise' };
const inAtomic: CallKind = { args: 'BatchedArgs', options: 'AtomicOptions', result: 'PendingCall' };
const inBatch: CallKind = { args: 'BatchedArgs', options: 'BatchedOptions', result: 'BatchedCall' };

/** The parts of the signatures of a document's calls. */
interface CallSource {
  readonly document: Document;
  readonly codesOf: (call: Call) => readonly string[];
}

function signature(call: Call, kind: CallKind, { document, codesOf }: CallSource): string {
  const { operationId, summary, description } = call.operation;
  const name = operationId.slice(operationId.indexOf('.') + 1);
  const id = `'${operationId}'`;
  const { requestBody, responses } = call.operation;
  const taken = opaquesIn(requestBody ? [requestBody] : [], document);
  const given = opaquesIn(
    Object.entries(responses).flatMap(([status, one]) => (status < '300' ? [one] : [])),
    document,
  );
  const opaques = ['Payload', 'Result'].filter((one) => taken.includes(one) || given.includes(one));
  const generics = opaques.length === 0 ? '' : `<${opaques.map((one) => `${one} = unknown`).join(', ')}>`;
  const both = ['Payload', 'Result'].map((one) => (opaques.includes(one) ? one : 'unknown')).join(', ');
  const typed = (type: string): string => (given.length === 0 ? type : `Typed<${type}, ${both}>`);
  const optional = needsNothing(call, document) ? '?' : '';
  // In an atomic batch, a read answers only its record.
  const queried = (call.operation.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => `'${name}'`);
  const ofRead =
    kind === inAtomic && call.method === 'GET' && queried.length > 0 ? `, never, ${queried.join(' | ')}` : '';
  const taking = (more = '') => {
    const args = `${kind.args}<${id}${more || ofRead}>`;
    const opts = kind === inAtomic ? `${kind.options}<Answer<${id}>>` : kind.options;
    return `args${optional}: ${taken.length === 0 ? args : `Typed<${args}, ${both}>`}, options?: ${opts}`;
  };
  const giving = (type: string) => `${kind.result}<${typed(type)}>`;
  const lines = listsWithMax(call)
    ? [
        `${name}${generics}(${taking(", 'max'")}): ${giving(`ListOf<Answer<${id}>>`)};`,
        `${name}${generics}(${taking(", never, 'max'")}): ${giving(`OneOf<Answer<${id}>>`)};`,
      ]
    : [`${name}${generics}(${taking()}): ${giving(`Answer<${id}>`)};`];
  const path = `\`${call.method} ${base}${call.path}\``;
  const codes = codesOf(call);
  const refusals = codes.length === 0 ? [] : [`@throws {MusterError} ${codes.join(', ')}`];
  const paragraphs = [summary, ...(description === undefined ? [] : [description]), path, ...refusals];
  const text = comment(paragraphs, '    ');
  const pages = kind === alone ? pagesOf(call, document) : undefined;
  return [
    ...lines.flatMap((line) => [text, `    ${line}`]),
    ...(pages ? [iterator(call, pages, optional, typed, generics)] : []),
    ...(kind === alone && isEnsured(call, document) ? [ensuring(call, document)] : []),
  ].join('\n');
}

/** The method that finds a record by name or creates it. */
function ensuring({ operation: { operationId } }: Call, document: Document): string {
  const [room = ''] = operationId.split('.');
  const list = callsOf(document).find(({ operation }) => operation.operationId === `${room}.list`);
  const plural = (list && pagesOf(list, document)?.list) ?? '';
  const { summary, code } = ensuringOf(room);
  const refusal =
    code &&
    `@throws {MusterError} ${code} if the existing one differs in any of these fields; the message says in which`;
  const paragraphs = [
    `${summary}. Several processes may do so at once: all get the same one.`,
    ...(refusal ? [refusal] : []),
  ];
  const text = comment(paragraphs, '    ');
  const item = `Answer<'${room}.list'>['${plural}'][number]`;
  const args = room === 'mailbox' ? `'${operationId}', never, 'unique'` : `'${operationId}'`;
  return `${text}\n    ensure(args: Args<${args}>, options?: CallOptions): Promise<${item}>;`;
}

/** The iterator over all pages of a list. */
function iterator(
  call: Call,
  { list, iterator }: NonNullable<ReturnType<typeof pagesOf>>,
  optional: string,
  typed: (type: string) => string,
  generics: string,
): string {
  const id = `'${call.operation.operationId}'`;
  const args = `args${optional}: Args<${id}, never, 'cursor'>, options?: CallOptions`;
  const item = typed(`Answer<${id}>['${list}'][number]`);
  const text = comment([`Iterates over the ${list} of all pages: \`${call.method} ${base}${call.path}\``], '    ');
  return `${text}\n    ${iterator}${generics}(${args}): AsyncGenerator<${item}, void>;`;
}

/** The source of the generated module: each call's method, path and signature, and the error codes. */
function callsText(document: Document): string {
  const all = callsOf(document);
  const roomOf = ({ operation }: Call) => operation.operationId.split('.', 1)[0] ?? '';
  // Calls outside primitives, such as batch, are written by hand.
  const ofRooms = all.filter(({ operation }) => operation.operationId.includes('.'));
  const [batched, atomic] = [batchedCalls(document), atomicCalls(document)];
  const source: CallSource = { document, codesOf: specificCodes(document) };
  const byRoom = (calls: readonly Call[], kind: CallKind) =>
    [...new Set(calls.map(roomOf))].map((room) => {
      const ofRoom = calls.filter((call) => roomOf(call) === room);
      return `  readonly ${room}: {\n${ofRoom.map((call) => signature(call, kind, source)).join('\n')}\n  };`;
    });
  const paged = all.flatMap((call) => {
    const pages = pagesOf(call, document);
    return pages ? [`  '${call.operation.operationId}': ['${pages.list}', '${pages.iterator}'],`] : [];
  });
  return [
    'import type {',
    '  Answer,',
    '  Args,',
    '  AtomicOptions,',
    '  BatchedArgs,',
    '  BatchedCall,',
    '  BatchedOptions,',
    '  CallOptions,',
    '  ListOf,',
    '  OneOf,',
    '  PendingCall,',
    '  Typed,',
    "} from '../types.ts';\n",
    '/** Method and path of each call, by its name. */',
    'export const calls = {',
    ...all.map(({ method, path, operation }) => `  '${operation.operationId}': ['${method}', '${path}'],`),
    '} as const;\n',
    '/** By the name of a call: the list in its pages, and the name of the iterator over the items of all pages. */',
    'export const pages = {',
    ...paged,
    '} as const;\n',
    '/** The primitives whose records have unique names, for `ensure`. */',
    'export const named = [',
    ...all.flatMap((call) => (makesNamed(call, document) ? [`  '${roomOf(call)}',`] : [])),
    '] as const;\n',
    '/** Every call of the API, by primitive. */',
    'export interface Calls {',
    ...byRoom(ofRooms, alone),
    '}\n',
    '/** Every call that a batch takes, by primitive. */',
    'export interface BatchedCalls {',
    ...byRoom(
      ofRooms.filter(({ operation }) => batched.has(operation.operationId)),
      inBatch,
    ),
    '}\n',
    '/** Every call that an atomic batch takes, by primitive. */',
    'export interface AtomicCalls {',
    ...byRoom(
      ofRooms.filter(({ operation }) => atomic.has(operation.operationId)),
      inAtomic,
    ),
    '}\n',
  ].join('\n');
}

function errorsText(document: Document): string {
  return [
    '/** The codes of error responses: their meaning and status. */',
    'export interface ErrorCodes {',
    ...allFailures(document).map(
      ({ code, status, meaning }) => `${comment([meaning], '  ')}\n  readonly ${code}: ${status};`,
    ),
    '}\n',
    '/** The possible values of `code` in an error response. */',
    'export type ErrorCode = keyof ErrorCodes;\n',
  ].join('\n');
}

const head = '// Generated from the OpenAPI document by `npm run generate`.\n\n';
// A field with a default may be left out.
const options = { defaultNonNullable: false };

/** The typed client's modules for an OpenAPI document: the calls, and the types of their arguments and responses. */
export async function clientTexts(openapi: object): Promise<Record<'calls' | 'errors' | 'openapi', string>> {
  const document = JSON.parse(JSON.stringify(openapi)) as Document;
  const types = await openapiTypes(JSON.stringify(forTypes(document)), options);
  return { calls: head + callsText(document), errors: head + errorsText(document), openapi: head + astToString(types) };
}
