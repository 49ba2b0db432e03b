import { isRule, type JsonSchema, type NamedSchemas } from './schema.ts';

/** What fields mean: by `Schema.field`, or by the field's name wherever it stands. */
export type Glossary = Readonly<Record<string, string>>;

/** Fields that answers of several rooms have. */
export const commonFields: Glossary = {
  id: "the record's id",
  name: 'for people, and to find it by',
  state: 'the state it is in now',
  reason: 'why it ended so; null while it has not, or where the state says it',
  createdAt: 'when it was made',
  finishedAt: 'when it ended; null before',
  closedAt: 'when nothing of it was left; null before',
  asOf: 'the moment of these figures',
  replay: 'whether an earlier request did it already, so that this one changed nothing',
  truncated: 'whether there is more than is shown',
  nextCursor: 'the cursor of the next page; null: this was the last',
  cursor: 'the nextCursor of the page before, unchanged; left out: from the beginning',
  limit: 'the most that one page holds',
  holder: 'who holds it: a name that the caller chose',
  workKey: "the caller's name for this work, unique where it is used: a repetition is recognized by it",
  payload: "the sender's JSON value, unchanged",
  deadline: 'when it expires unless it has ended before; null: never',
  position: 'its place in the queue; 1 is the next',
  waitingSince: 'since when it has waited',
  expiresAt: 'when it gives up waiting',
  blockedBy: 'what it waits for',
  waitSeconds: 'how long the request may be held until there is something to answer',
  idempotencyKey:
    "names the call for its retries, as the header Idempotency-Key does; left out: made of the batch's key and the call's index",
  call: 'the name of the call',
  calls: 'the calls, in the order in which they are made',
  results: 'what became of each call, in the same order',
  status: 'the HTTP status that a request of its own would have had',
  error: 'what was wrong',
};

/**
 * Fields whose names are states or event types are counters, and `messages` is a list of them, their number, or their
 * numbers by state.
 */
function namesake(name: string, { type, properties }: JsonSchema): string | undefined {
  if (/^[A-Z]+$/.test(name)) return `how many are ${name}`;
  if (/^[a-z]+\.[a-z_]+$/.test(name)) return `how often ${name} has happened in the space`;
  if (!/^[a-z]+s$/.test(name)) return undefined;
  if (type === 'array') return `the ${name}`;
  if (type === 'integer') return `how many ${name}`;
  return properties === undefined ? undefined : `how many ${name} are in which state`;
}

/** What null would mean is said where it is allowed. */
function fitting(meaning: string, field: JsonSchema): string {
  const { type, anyOf } = (field['schema'] ?? field) as { type?: string | string[]; anyOf?: { type?: string }[] };
  const isNeverNull = type === undefined ? anyOf?.every((one) => one.type !== 'null') : ![type].flat().includes('null');
  return isNeverNull ? meaning.replace(/; null\b[^;]*$/, '') : meaning;
}

type Properties = Record<string, JsonSchema>;

/** A copy, as schemas may share a field. What a field means comes first, then what is allowed. */
function describe(field: JsonSchema, meaning: string | undefined): JsonSchema {
  const rule = field['description'];
  if (meaning === undefined || (rule !== undefined && !isRule(rule))) return field;
  const said = fitting(meaning, field);
  return { ...field, description: rule === undefined ? said : `${said}; ${rule}` };
}

/** Describes the fields below a schema that nothing describes; `path`: `Message`, then `Message.counts`. */
function describeFields(schema: JsonSchema, path: string, glossary: Glossary): void {
  const properties = (schema['properties'] ?? {}) as Properties;
  for (const [name, field] of Object.entries(properties)) {
    const description = glossary[`${path}.${name}`] ?? glossary[name] ?? namesake(name, field);
    const described = describe(field, description);
    properties[name] = described;
    describeFields(described, `${path}.${name}`, glossary);
  }
  const item = schema['items'] as JsonSchema | undefined;
  if (item) describeFields(item, path, glossary);
  for (const one of (schema['anyOf'] ?? []) as JsonSchema[]) describeFields(one, path, glossary);
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly JsonSchema[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: JsonSchema }> };
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: JsonSchema }> }>;
}

/** The same for an operation: its parameters, its body and its answers. */
export function describeOperation(operation: object, glossary: Glossary): void {
  const { operationId, parameters = [], requestBody, responses } = operation as Operation;
  for (const parameter of parameters) {
    const name = parameter['name'];
    const said = typeof name === 'string' ? (glossary[`${operationId}.${name}`] ?? glossary[name]) : undefined;
    if (said !== undefined) Object.assign(parameter, describe(parameter, said));
  }
  for (const { content } of [requestBody, ...Object.values(responses)].filter((one) => one !== undefined))
    for (const { schema } of Object.values(content ?? {})) describeFields(schema, operationId, glossary);
}

/** The same for the named schemas. */
export function describeNamed(named: NamedSchemas, glossary: Glossary): void {
  for (const [name, schema] of named) describeFields(schema, name, glossary);
}
