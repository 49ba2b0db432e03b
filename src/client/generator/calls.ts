import openapiTypes, { astToString } from 'openapi-typescript';

type Json = Record<string, unknown>;

interface Parameter {
  readonly $ref?: string;
  readonly name?: string;
  readonly required?: boolean;
}

interface Operation extends Json {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Json } } };
  readonly responses: Readonly<Record<string, unknown>>;
}

/** The parts of an OpenAPI document that are used here. */
interface Document extends Json {
  readonly components: { readonly schemas: Json };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Call {
  readonly method: string;
  /** Relative to /v1/spaces. */
  readonly path: string;
  readonly operation: Operation;
}

const spaces = '/v1/spaces';
/** The client's own path parameter. */
const space = '/{spaceId}';

function callsOf({ paths }: Document): Call[] {
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(spaces))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: path.slice(spaces.length),
        operation,
      })),
    );
}

/** The document without what the client handles itself (space, headers, errors) and without webhooks. */
function forTypes(document: Document): Json {
  const paths: Record<string, Json> = {};
  for (const { method, path, operation } of callsOf(document)) {
    const parameters = (operation.parameters ?? []).filter(({ $ref }) => $ref === undefined);
    const responses = Object.entries(operation.responses)
      .filter(([status]) => status < '300')
      .map(([status, response]) => [status, { ...(response as Json), headers: {} }]);
    const reduced = { ...operation, parameters, responses: Object.fromEntries(responses) };
    paths[path] = { ...paths[path], [method.toLowerCase()]: reduced };
  }
  const { Error: _, ...schemas } = document.components.schemas;
  return { ...document, webhooks: {}, paths, components: { schemas } };
}

/** Every error code that a call may return. */
function codesOf(document: Document): string[] {
  const enums = JSON.stringify(document).matchAll(/"code":\{"enum":\[([^\]]*)\]/g);
  return [...new Set([...enums].flatMap(([, codes = '']) => codes.split(',')))].sort();
}

/** Whether a call has no required arguments. */
function needsNothing({ path, operation: { parameters = [], requestBody } }: Call): boolean {
  const required = requestBody?.content['application/json'].schema['required'] ?? [];
  return (
    !path.replace(space, '').includes('{') &&
    !parameters.some((one) => one.required) &&
    (required as string[]).length === 0
  );
}

/** Whether a call answers one record or, if given `max`, a list. */
function listsWithMax({ operation }: Call): boolean {
  const { 200: ok } = operation.responses as { 200?: { content?: { 'application/json': { schema: Json } } } };
  return ok?.content?.['application/json'].schema['anyOf'] !== undefined;
}

/** What a call takes and gives, by itself or in a batch. */
interface Kind {
  readonly args: string;
  readonly options: string;
  readonly result: string;
}

const alone: Kind = { args: 'Args', options: 'CallOptions', result: 'Promise' };
const inBatch: Kind = { args: 'BatchedArgs', options: 'BatchedOptions', result: 'BatchedCall' };

function signature(call: Call, kind: Kind): string {
  const { operationId, summary } = call.operation;
  const name = operationId.slice(operationId.indexOf('.') + 1);
  const id = `'${operationId}'`;
  const args = `args${needsNothing(call) ? '?' : ''}: ${kind.args}<${id}>, options?: ${kind.options}`;
  const lines = listsWithMax(call)
    ? [
        `${name}(${args.replace(id, `${id}, 'max'`)}): ${kind.result}<ListOf<Answer<${id}>>>;`,
        `${name}(${args.replace(id, `${id}, never, 'max'`)}): ${kind.result}<OneOf<Answer<${id}>>>;`,
      ]
    : [`${name}(${args}): ${kind.result}<Answer<${id}>>;`];
  return [`/** ${summary}: \`${call.method} ${spaces}${call.path}\` */`, ...lines]
    .map((line) => `    ${line}`)
    .join('\n');
}

/** The names of the calls that a batch takes. */
function batchedNames({ components }: Document): string[] {
  const { oneOf } = components.schemas['Call'] as { oneOf: readonly { readonly $ref: string }[] };
  return oneOf.map(({ $ref }) => $ref.split('/').at(-1) ?? '');
}

/** The source of the generated module: method and path of each call, its signature, and the error codes. */
function callsText(document: Document): string {
  const all = callsOf(document);
  const roomOf = ({ operation }: Call) => operation.operationId.split('.', 1)[0] ?? '';
  // A call of no primitive, batch, is written by hand.
  const ofRooms = all.filter(({ operation }) => operation.operationId.includes('.'));
  const batched = batchedNames(document);
  const byRoom = (calls: readonly Call[], kind: Kind) =>
    [...new Set(calls.map(roomOf))].map((room) => {
      const own = calls.filter((call) => roomOf(call) === room);
      return `  readonly ${room}: {\n${own.map((call) => signature(call, kind)).join('\n')}\n  };`;
    });
  return [
    'import type {',
    '  Answer,',
    '  Args,',
    '  BatchedArgs,',
    '  BatchedCall,',
    '  BatchedOptions,',
    '  CallOptions,',
    '  ListOf,',
    '  OneOf,',
    "} from '../types.ts';\n",
    '/** Method and path of each call, by its name. */',
    'export const calls = {',
    ...all.map(({ method, path, operation }) => `  '${operation.operationId}': ['${method}', '${path}'],`),
    '} as const;\n',
    '/** Every call of the API, by primitive. */',
    'export interface Calls {',
    ...byRoom(ofRooms, alone),
    '}\n',
    '/** Every call that a batch takes, by primitive. */',
    'export interface BatchedCalls {',
    ...byRoom(
      ofRooms.filter(({ operation }) => batched.includes(operation.operationId)),
      inBatch,
    ),
    '}\n',
    '/** The possible values of `code` in an error response. */',
    `export type ErrorCode =\n  | ${codesOf(document).join('\n  | ').replaceAll('"', "'")};\n`,
  ].join('\n');
}

const head = '// Generated from the OpenAPI document by `npm run generate`.\n\n';
// A field with a default may be left out.
const options = { defaultNonNullable: false };

/** The typed client's modules for an OpenAPI document: the calls, and the types of their arguments and responses. */
export async function clientTexts(openapi: object): Promise<{ calls: string; openapi: string }> {
  const document = JSON.parse(JSON.stringify(openapi)) as Document;
  const types = await openapiTypes(JSON.stringify(forTypes(document)), options);
  return { calls: head + callsText(document), openapi: head + astToString(types) };
}
