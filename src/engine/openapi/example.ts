import { exampleId } from '../declare/field.ts';
import type { JsonSchema, Target } from './schema.ts';

/** Texts in fixed formats. */
const formed = ['2026-01-31T12:00:00.000Z', '1250', 'EUR', '2026-01-31', '2026-01'];

/**
 * A value that the schema accepts, so that every body has an example. It uses the first alternative of `oneOf` and the
 * last one of `anyOf` that is not null. name: of the field or the component.
 */
export function exampleOf(schema: JsonSchema, target: Target, name = ''): unknown {
  const { $ref, examples, anyOf, oneOf, enum: values, properties, items } = schema as Parts;
  if (examples) return examples[0];
  if ($ref !== undefined) {
    const component = $ref.slice($ref.lastIndexOf('/') + 1);
    return exampleOf(target.named.get(component) ?? {}, target, name === '' ? component : name);
  }
  if ('const' in schema) return schema['const'];
  if (values) return values[0];
  const one = oneOf?.[0] ?? anyOf?.findLast(({ type }) => type !== 'null');
  if (one) return exampleOf(one, target, name);
  if (properties) return objectOf(schema as Parts, target, name);
  const word = target.glossary.get(name)?.example;
  if (items) return Array.isArray(word) ? word : [exampleOf(items, target, '$ref' in items ? '' : name)];
  return plain(schema as Parts, word, name);
}

interface Parts {
  readonly $ref?: string;
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
}

const isNullable = ({ type, anyOf }: Parts): boolean =>
  [type].flat().includes('null') || (anyOf ?? []).some((one) => one['type'] === 'null');

/**
 * In answers every field is present. A nullable field is null, as it mostly belongs to a later state, such as the time of the
 * end. Requests show optional fields.
 */
function objectOf({ properties = {}, required = [] }: Parts, target: Target, of: string): unknown {
  const fields = Object.entries(properties).flatMap(([name, schema]) => {
    const isRequired = required.includes(name);
    const isLater = isRequired && isNullable(schema) && !('examples' in schema);
    // The `id` of a Message or SentMessage is `messageId` elsewhere.
    const [noun = ''] = /[A-Z]?[a-z]*$/.exec(of) ?? [];
    const value = isLater ? null : exampleOf(schema, target, name === 'id' ? `${noun.toLowerCase()}Id` : name);
    return value === null && !isRequired ? [] : [[name, value] as const];
  });
  return Object.fromEntries(fields);
}

/** word: the glossary's example for fields with this name. */
function plain(schema: Parts, word: unknown, name: string): unknown {
  const { format, pattern, minimum = 0, maximum = Infinity } = schema;
  const types = [schema.type ?? []].flat();
  if (types.includes('boolean')) return schema.default ?? false;
  if (types.includes('integer') || types.includes('number')) {
    const usual = schema.default ?? (typeof word === 'number' ? word : /Seconds$/.test(name) ? 60 : 0);
    return Math.min(Math.max(Number(usual), minimum), maximum);
  }
  if (format === 'uuid') return word ?? exampleId(name);
  if (format === 'date-time') return word ?? '2026-01-31T18:00:00.000Z';
  if (pattern !== undefined) {
    const form = new RegExp(pattern);
    return [word, exampleId(name), ...formed].find((text) => typeof text === 'string' && form.test(text));
  }
  if (word !== undefined) return word;
  return types.includes('string') ? name : types.includes('object') ? {} : { orderId: 4711 };
}
