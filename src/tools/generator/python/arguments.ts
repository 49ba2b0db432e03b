import { type Call, type Document, resolved, type Schema, space } from '../document.ts';
import type { MethodKind } from './kinds.ts';
import { capital, capitalized, docstring, literal, snake, union } from './words.ts';

export interface Argument {
  readonly json: string;
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string | undefined;
}

/** The types of arguments, with classes for objects. */
export class Arguments {
  readonly #document: Document;
  readonly #classes = new Map<string, string>();
  #isBatched = false;

  constructor(document: Document) {
    this.#document = document;
  }

  get text(): string {
    return [...this.#classes.values()].join('\n\n\n');
  }

  get names(): string[] {
    return [...this.#classes.keys()].sort();
  }

  /** The arguments of a call. In an atomic batch, a read answers only its record. */
  of(
    { method, path, operation }: Call,
    { isBatched, isAtomic }: Pick<MethodKind, 'isBatched' | 'isAtomic'>,
  ): Argument[] {
    this.#isBatched = isBatched === true;
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
    const inPath = [...path.replace(space, '').matchAll(/\{(\w+)\}/g)].map(([, json = '']) =>
      argument(json, { type: 'string', format: 'uuid' }, true),
    );
    const inQuery = parameters
      .filter((one) => one.in === 'query' && !(isAtomic && method === 'GET'))
      .map(({ name, schema, required = false, description }) => argument(name, schema, required, description));
    const body = resolved(operation.requestBody?.content['application/json']?.schema ?? {}, this.#document);
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
      if (schema.format === 'uuid') return this.#isBatched && json.endsWith('Id') ? 'Id | From' : 'Id';
      if (schema.format === 'date-time') return 'Moment';
      return json.endsWith('Minor') ? 'Amount' : 'str';
    }
    if (type === 'array' && json === 'after') return 'Sequence[After]';
    if (type === 'array') return `Sequence[${this.#typeOf(schema.items ?? {}, json, name)}]`;
    if (type === 'object' && schema.properties) return this.#class(name, schema);
    return { integer: 'int', number: 'float', boolean: 'bool', null: 'None' }[type] ?? 'Mapping[str, Any]';
  }

  #class(name: string, schema: Schema): string {
    const fields = Object.entries(schema.properties ?? {}).map(([json, one]) => {
      const type = this.#typeOf(one, json, name + capital(json));
      return `    ${json}: ${(schema.required ?? []).includes(json) ? type : `NotRequired[${type}]`}`;
    });
    const about = `An argument whose fields have the API's names: \`${name}\``;
    this.#classes.set(name, [`class ${name}(TypedDict):`, docstring([about], '    '), '', ...fields].join('\n'));
    return name;
  }
}
