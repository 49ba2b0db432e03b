/** The parts of an OpenAPI document that the generators read. */
export interface Document {
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export interface Schema {
  readonly [keyword: string]: unknown;
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

export interface Content {
  readonly content?: { readonly 'application/json'?: { readonly schema: Schema } };
}

interface Response extends Content {
  readonly $ref?: string;
  readonly description?: string;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Required<Content>;
  readonly responses: Readonly<Record<string, Response>>;
}

export interface Call {
  readonly method: string;
  /** The path below /v1. */
  readonly path: string;
  readonly operation: Operation;
}

interface Failure {
  readonly code: string;
  readonly status: string;
  readonly meaning: string;
}

export const base = '/v1';
/** The path of the client's space. */
export const space = '/spaces/{spaceId}';

export const refName = (ref: string): string => ref.split('/').at(-1) ?? '';

/** A schema, with a reference replaced by the schema it names. */
export function resolved(schema: Schema, { components }: Document): Schema {
  return schema.$ref === undefined ? schema : (components.schemas[refName(schema.$ref)] ?? {});
}

export function callsOf({ paths }: Document): Call[] {
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(base))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: path.slice(base.length),
        operation,
      })),
    );
}

/** The errors of a call, from the lines of its responses: - `CODE`: meaning. */
function failuresOf({ operation }: Call, { components }: Document): Failure[] {
  return Object.entries(operation.responses).flatMap(([status, { $ref, description }]) => {
    if (status < '300') return [];
    const text = $ref === undefined ? description : components.responses[refName($ref)]?.description;
    const lines = (text ?? '').matchAll(/^- `(\w+)`: (.*)$/gm);
    return [...lines].map(([, code = '', meaning = '']) => ({ code, status, meaning }));
  });
}

/** Every error that a call may return, by its code. */
export function allFailures(document: Document): Failure[] {
  const all = new Map(callsOf(document).flatMap((call) => failuresOf(call, document).map((one) => [one.code, one])));
  return [...all.values()].sort((a, b) => (a.code < b.code ? -1 : 1));
}

/** A call's error codes that most calls don't have. */
export function specificCodes(document: Document): (call: Call) => string[] {
  const codesOf = (call: Call) => [...new Set(failuresOf(call, document).map(({ code }) => code))];
  const all = callsOf(document);
  const counts = new Map<string, number>();
  for (const code of all.flatMap(codesOf)) counts.set(code, (counts.get(code) ?? 0) + 1);
  return (call) => codesOf(call).filter((code) => (counts.get(code) ?? 0) <= all.length / 2);
}

/** The schemas of the calls that batches take, by their names. */
function callSchemas({ components }: Document): Map<string, Schema> {
  const schemas = (components.schemas['Call']?.oneOf ?? []).map(
    ({ $ref = '' }) => components.schemas[refName($ref)] ?? {},
  );
  return new Map(schemas.map((schema) => [String(schema.properties?.['call']?.const), schema]));
}

/** Whether a call creates records whose names are unique in their space and can be found by a list. */
export function makesNamed(call: Call, document: Document): boolean {
  const [room = '', name] = call.operation.operationId.split('.');
  const list = callsOf(document).find(({ operation }) => operation.operationId === `${room}.list`);
  const isUnique = failuresOf(call, document).some(({ code }) => code === `${room.toUpperCase()}_EXISTS`);
  return name === 'create' && isUnique && (list?.operation.parameters ?? []).some((one) => one.name === 'name');
}

/** Whether a call creates a record, or finds one of its name, for `ensure`. */
export function isEnsured(call: Call, document: Document): boolean {
  return call.operation.operationId === 'mailbox.create' || makesNamed(call, document);
}

/** How `ensure` treats an existing record that differs. A schedule belongs to the program that ensures it. */
export function ensuringOf(room: string): { readonly summary: string; readonly code?: string } {
  if (room === 'schedule')
    return {
      summary: 'Creates the schedule with this name, or changes an existing one where it differs from these fields',
    };
  return {
    summary: `Finds the ${room} with this name, or creates it`,
    code: room === 'mailbox' ? 'MAILBOX_CONFLICT' : `${room.toUpperCase()}_EXISTS`,
  };
}

/** The calls that a batch takes, by name. */
export function batchedCalls(document: Document): ReadonlySet<string> {
  const reads = new Set(
    callsOf(document).flatMap(({ method, operation }) => (method === 'GET' ? operation.operationId : [])),
  );
  return new Set([...callSchemas(document).keys()].filter((name) => !reads.has(name)));
}

/** The calls that an atomic batch takes. */
export function atomicCalls(document: Document): ReadonlySet<string> {
  return new Set([...callSchemas(document)].flatMap(([name, { properties }]) => (properties?.['expect'] ? name : [])));
}

/** Wraps a text into lines shorter than `width`. */
export function wrapped(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
