import Joi from 'joi';

export type JsonSchema = Record<string, unknown>;

/** The parts of Joi's description of a schema that are read here. */
interface Described {
  readonly flags?: { readonly presence?: string; readonly empty?: { readonly allow?: readonly unknown[] } };
  readonly preferences?: { readonly presence?: string };
  readonly allow?: readonly unknown[];
  readonly metas?: readonly JsonSchema[];
  readonly examples?: readonly unknown[];
  readonly keys?: Readonly<Record<string, Described>>;
  readonly items?: readonly Described[];
  readonly matches?: readonly { readonly schema?: Described }[];
  readonly dependencies?: readonly { readonly rel: string; readonly key?: string; readonly peers: readonly string[] }[];
}

/** Descriptions that say only what is allowed. */
const rulesOnly = new Set<unknown>();

/** Whether a field's description says nothing of what it means. */
export const isRule = (description: unknown): boolean => rulesOnly.has(description);

/** Schemas by name: each is written once, and referred to. */
export type NamedSchemas = Map<string, JsonSchema>;

export const schemaRef = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/**
 * A schema as JSON Schema 2020-12. Joi writes most of it; what it leaves out is put in from the schema's description:
 * `.meta()` of the field kinds (their rules are functions), required fields (Joi looks at each field, not at the
 * preference of the object), null where it means absent, and rules between fields, as a sentence. Adds schemas that
 * have a name to `named`.
 */
export function jsonSchema(schema: Joi.Schema, named: NamedSchemas = new Map()): JsonSchema {
  const standard = schema['~standard'] as unknown as {
    jsonSchema: { input(options: { target: string }): JsonSchema };
  };
  const json = standard.jsonSchema.input({ target: 'draft-2020-12' });
  return complete(json, descriptionOf(schema), 'optional', named);
}

/** Joi checks the description of each schema, and so those below it again at every level: most of the time goes there. */
function descriptionOf(schema: Joi.Schema): Described {
  const { assert } = Joi;
  Joi.assert = () => undefined;
  try {
    return schema.describe() as Described;
  } finally {
    Joi.assert = assert;
  }
}

function complete(json: JsonSchema, described: Described, inherited: string, named: NamedSchemas): JsonSchema {
  const name = described.metas?.find(({ component }) => component !== undefined)?.['component'] as string | undefined;
  if (name === undefined) return completed(json, described, inherited, named);
  if (!named.has(name)) named.set(name, completed(json, described, inherited, named));
  return described.allow?.includes(null) ? { anyOf: [schemaRef(name), { type: 'null' }] } : schemaRef(name);
}

function completed(json: JsonSchema, described: Described, inherited: string, named: NamedSchemas): JsonSchema {
  const presence = described.preferences?.presence ?? inherited;
  const [only, ...others] = (json['anyOf'] ?? []) as JsonSchema[];
  // `.when()` leaves a single alternative if its cases differ only in what JSON Schema does not express.
  const result: JsonSchema = only !== undefined && others.length === 0 ? { ...only } : { ...json };
  for (const { opaque, component: _component, ...meta } of described.metas ?? []) {
    // What a field means comes first, then the rule of its kind.
    const meaning = result['description'];
    const also = opaque === true ? 'any JSON value; comes back as it was sent' : meta['description'];
    Object.assign(result, meta);
    if (also !== undefined) result['description'] = meaning === undefined ? also : `${meaning}; ${also}`;
    if (meaning === undefined) rulesOnly.add(also);
    // A number in a query string is text for Joi.
    if (meta['type'] === 'integer') delete result['minLength'];
  }
  if (described.examples) result['examples'] = described.examples;
  if (described.keys) Object.assign(result, completeKeys(json, described, presence, named));
  const [item] = described.items ?? [];
  if (item) result['items'] = complete(json['items'] as JsonSchema, item, presence, named);
  const matches = (described.matches ?? []).flatMap((match) => match.schema ?? []);
  if (only && matches.length === others.length + 1)
    result['anyOf'] = matches.map((match, i) => complete([only, ...others][i] ?? {}, match, presence, named));
  const rules = (described.dependencies ?? []).map(sentence);
  if (rules.length > 0 && result['description'] === undefined) {
    result['description'] = rules.join('; ');
    rulesOnly.add(result['description']);
  }
  if (described.flags?.empty?.allow?.includes(null)) allowNull(result);
  // Joi adds null to the types but not to the values that are allowed.
  const { type, enum: values } = result;
  if (Array.isArray(type) && type.includes('null') && Array.isArray(values)) result['enum'] = [...values, null];
  return result;
}

function completeKeys(json: JsonSchema, described: Described, presence: string, named: NamedSchemas): JsonSchema {
  const properties = json['properties'] as Record<string, JsonSchema>;
  const keys = Object.entries(described.keys ?? {});
  const required = keys.filter(([, key]) => (key.flags?.presence ?? presence) === 'required').map(([name]) => name);
  return {
    properties: Object.fromEntries(
      keys.map(([name, key]) => [name, complete(properties[name] ?? {}, key, presence, named)]),
    ),
    ...(required.length > 0 && { required }),
  };
}

function allowNull(json: JsonSchema): void {
  const { type, anyOf } = json;
  if (Array.isArray(anyOf)) json['anyOf'] = [...anyOf, { type: 'null' }];
  if (type !== undefined) json['type'] = [...(Array.isArray(type) ? type : [type]), 'null'];
}

function sentence({ rel, key, peers }: NonNullable<Described['dependencies']>[number]): string {
  const names = peers.join(', ');
  if (rel === 'and') return `${names}: all of them or none`;
  if (rel === 'with') return `${key} only with ${names}`;
  if (rel === 'without') return `${key} not with ${names}`;
  return `${names}: ${rel === 'or' ? 'at least one' : rel === 'xor' ? 'exactly one' : 'at most one'} of them`;
}
