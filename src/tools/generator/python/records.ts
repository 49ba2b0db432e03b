import { type Document, refName, resolved, type Schema } from '../document.ts';
import { capital, docstring, literal, snake, union } from './words.ts';

/** Names that the client's own classes use. */
const ofClient = new Set(['Reservation', 'Task', 'Usage']);

/** Classes for the records in answers, created when first met. */
export class Records {
  readonly #document: Document;
  readonly #classes = new Map<string, string>();

  constructor(document: Document) {
    this.#document = document;
  }

  get text(): string {
    return [...this.#classes.values()].join('\n\n\n');
  }

  get names(): string[] {
    return [...this.#classes.keys()].sort();
  }

  /** The type of a value in an answer. name: for a class if it needs one. */
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

  /** The record in a value, or in each item of a list; undefined if there is none. */
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
    // Counts by state or by event type, whose keys are values, not names.
    if (fields.some(([field]) => !/^[a-z]\w*$/.test(field)))
      return `dict[str, ${union(fields.map(([, one]) => this.typeOf(one, name)))}]`;
    return this.#class(name, schema);
  }

  #named(name: string): string {
    const schema = this.#document.components.schemas[name] ?? {};
    if (name === 'Event')
      return this.#class(name, merged((schema.oneOf ?? []).map((one) => resolved(one, this.#document))));
    return this.typeOf(schema, name);
  }

  #class(known: string, schema: Schema): string {
    const name = ofClient.has(known) ? `${known}Record` : known;
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
    // In the order of their dependencies: a class is written after all classes it names.
    this.#classes.delete(name);
    this.#classes.set(name, lines.join('\n'));
    return name;
  }
}

/** One schema for all events: all their types, and a payload of plain JSON. */
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
