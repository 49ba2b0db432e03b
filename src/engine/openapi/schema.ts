import type Joi from 'joi';
import type { Glossary } from '../declare/glossary.ts';

export type JsonSchema = Record<string, unknown>;

/** Schemas by name. Each is written once and referred to. */
export type NamedSchemas = Map<string, JsonSchema>;

/** Where schemas are added, and the descriptions for fields that have none. */
export interface Target {
  readonly named: NamedSchemas;
  readonly glossary: Glossary;
  /** Descriptions are for a model that calls a tool, not for a reader of the reference. */
  readonly isForModels?: true;
}

/** The parts of a schema read here, which Joi keeps for extensions (`$_terms`). */
interface Terms {
  readonly metas: readonly JsonSchema[] | null;
  readonly examples: readonly unknown[] | null;
  readonly keys?: readonly Key[] | null;
  readonly items?: readonly Joi.Schema[];
  readonly matches?: readonly { readonly schema?: Joi.Schema }[];
  readonly dependencies?: readonly Dependency[] | null;
}

interface Key {
  readonly key: string;
  readonly schema: Joi.Schema;
}

interface Dependency {
  readonly rel: string;
  readonly key: { readonly key: string } | null;
  readonly peers: readonly { readonly key: string }[];
}

const termsOf = (schema: Joi.Schema): Terms => schema.$_terms as Terms;
const metaOf = (schema: Joi.Schema, name: string) =>
  termsOf(schema).metas?.find((meta) => name in meta)?.[name] as string | undefined;

export const schemaRef = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

const anyDescription = { description: 'Any JSON value, which comes back as it was sent.' };
/**
 * Any JSON value but null, for tools. Google's API refuses a schema without a type, OpenAI's a list without items. A list in
 * a list has none, and is taken nevertheless.
 */
const anyValue = {
  type: ['object', 'array', 'string', 'number', 'boolean'],
  items: { type: ['object', 'string', 'number', 'boolean'] },
};

/** One of these components, each with the value of the property that it is for. */
export function unionOf(propertyName: string, named: readonly (readonly [string, JsonSchema])[]): JsonSchema {
  const mapping = Object.fromEntries(named.map(([value, ref]) => [value, ref['$ref']]));
  return { oneOf: named.map(([, ref]) => ref), discriminator: { propertyName, mapping } };
}

/**
 * A schema as JSON Schema 2020-12. Joi writes most of it. Added from the schema itself are: `.meta()` of the field kinds,
 * whose rules are functions; required fields, as Joi looks at each field and not at the object's preference; null where it
 * means absent; the meaning of each field; and rules between fields, as sentences.
 */
export function jsonSchema(schema: Joi.Schema, target: Target): JsonSchema {
  const standard = schema['~standard'] as unknown as {
    jsonSchema: { input(options: { target: string }): JsonSchema };
  };
  const json = standard.jsonSchema.input({ target: 'draft-2020-12' });
  return complete(json, schema, 'optional', target);
}

function complete(json: JsonSchema, schema: Joi.Schema, inherited: string, target: Target): JsonSchema {
  const name = metaOf(schema, 'component');
  // A model does not see components.
  if (name === undefined || target.isForModels) return completed(json, schema, inherited, target);
  const isNullable = schema.validate(null).error === undefined;
  // The component itself is never null; only this use of it may be.
  const { type } = json;
  const plain = isNullable && Array.isArray(type) ? { ...json, type: type.find((one) => one !== 'null') } : json;
  const { examples, ...named } = completed(plain, schema, inherited, target);
  if (!target.named.has(name))
    target.named.set(name, isNullable ? named : { ...named, ...(examples !== undefined && { examples }) });
  if (!isNullable) return schemaRef(name);
  return { anyOf: [schemaRef(name), { type: 'null' }], ...(examples !== undefined && { examples }) };
}

function completed(json: JsonSchema, schema: Joi.Schema, inherited: string, target: Target): JsonSchema {
  const { metas, examples, keys, items, matches: all = [], dependencies } = termsOf(schema);
  const presence = metaOf(schema, 'presence') ?? inherited;
  const [only, ...others] = (json['anyOf'] ?? []) as JsonSchema[];
  // `.when()` leaves a single alternative if its cases differ only in rules that JSON Schema cannot express.
  const { description: _meaning, ...result } = only !== undefined && others.length === 0 ? only : json;
  for (const { opaque, component: _component, presence: _presence, model: _model, actor: _actor, ...meta } of metas ??
    []) {
    Object.assign(result, meta, opaque === true && (target.isForModels ? anyValue : anyDescription));
    // Joi sees a number or a flag in a query string as text.
    if (meta['type'] === 'integer' || meta['type'] === 'boolean') delete result['minLength'];
  }
  if (examples) result['examples'] = examples;
  if (keys) Object.assign(result, completeKeys(json, keys, presence, target));
  const [item] = items ?? [];
  if (item) result['items'] = complete(json['items'] as JsonSchema, item, presence, target);
  const matches = all.flatMap((match) => match.schema ?? []);
  if (only && matches.length === others.length + 1)
    result['anyOf'] = matches.map((match, i) => complete([only, ...others][i] ?? {}, match, presence, target));
  if (dependencies) result['description'] = asSentence(dependencies.map(sentence).join('; '));
  const empty = schema.$_getFlag('empty') as Joi.Schema | undefined;
  if (empty?.validate(null).error === undefined && empty !== undefined) allowNull(result);
  // Joi adds null to the types but not to the allowed values.
  const { type, enum: values } = result;
  if (Array.isArray(type) && type.includes('null') && Array.isArray(values)) result['enum'] = [...values, null];
  return result;
}

function completeKeys(json: JsonSchema, keys: readonly Key[], presence: string, target: Target) {
  const written = json['properties'] as Record<string, JsonSchema>;
  const required = keys.filter(({ schema }) => (schema.$_getFlag('presence') ?? presence) === 'required');
  const properties = keys.map(({ key, schema }) => {
    const property = complete(written[key] ?? {}, schema, presence, target);
    const description = describe(key, property, target, schema);
    return [key, { ...property, ...(description !== undefined && { description }) }];
  });
  return {
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required: required.map(({ key }) => key) }),
  };
}

/**
 * The meaning of a field or path parameter, then the allowed values, which a model already sees in the schema. The
 * field's own description takes precedence over the glossary's.
 */
export function describe(name: string, json: JsonSchema, target: Target, schema?: Joi.Schema): string | undefined {
  const { model, meaning } = target.glossary.get(name) ?? {};
  const own = schema?.$_getFlag('description') as string | undefined;
  const forModels = target.isForModels && ((schema && metaOf(schema, 'model')) ?? own ?? model);
  const said = forModels ?? own ?? meaning ?? namesake(name, json);
  const parts = [said && fitting(said, json)];
  if (!target.isForModels) parts.push(json['description'] as string | undefined);
  const given = parts.filter((part) => part !== undefined && part !== '') as string[];
  if (given.length === 0) return undefined;
  return target.isForModels ? given.join('; ') : given.map(asSentence).join(' ');
}

/** A description as a sentence of its own. A name that begins it, such as `scopeId`, keeps its case. */
export function asSentence(text: string): string {
  const isName = /^[a-z]+[A-Z]/.test(text);
  const begun = isName ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** The names of ids, of counters by state or event type, and of lists or counts of records say what they are. */
function namesake(name: string, { type, properties }: JsonSchema): string | undefined {
  if (name === 'id') return "the record's id";
  const [, noun] = /^([a-z]+)Id$/.exec(name) ?? [];
  if (noun !== undefined) return `the id of the ${noun}`;
  if (/^[A-Z]+$/.test(name)) return `the number in the state ${name}`;
  if (/^[a-z]+\.[a-z_]+$/.test(name)) return `the number of ${name} events of the space`;
  if (!/^[a-z]+s$/.test(name)) return undefined;
  if (type === 'array') return `the ${name}`;
  if (type === 'integer') return `the number of ${name}`;
  return properties === undefined ? undefined : `the number of ${name} by state`;
}

/** Drops the meaning of null where null is not allowed. */
function fitting(meaning: string, { type, anyOf }: JsonSchema): string {
  const types = anyOf ? (anyOf as JsonSchema[]).map((one) => one['type']) : [type].flat();
  const mayBeNull = types.includes('null') || types.every((one) => one === undefined);
  return mayBeNull ? meaning : meaning.replace(/(?:, or|;) null\b[^;]*$/, '');
}

function allowNull(json: JsonSchema): void {
  const { type, anyOf } = json;
  if ([type].flat().includes('null')) return;
  if (Array.isArray(anyOf)) json['anyOf'] = [...anyOf, { type: 'null' }];
  if (type !== undefined) json['type'] = [...(Array.isArray(type) ? type : [type]), 'null'];
}

function sentence({ rel, key, peers }: Dependency): string {
  const names = peers.map((peer) => peer.key).join(', ');
  if (rel === 'and') return `${names}: all of them or none`;
  if (rel === 'with') return `${key?.key} only with ${names}`;
  if (rel === 'without') return `${key?.key} not with ${names}`;
  return `${names}: ${rel === 'or' ? 'at least one' : rel === 'xor' ? 'exactly one' : 'at most one'} of them`;
}
