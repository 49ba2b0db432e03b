import Joi from 'joi';
import { mapped } from './computed.ts';
import { type Answered, type AnyField, counter, Field, type Fields } from './field.ts';
import type { Get, Value } from './value.ts';

/** Joi checks preferences each time they are given, which takes longer than the rest of a schema. */
const strict = Joi.object().prefs({ convert: false, presence: 'required' }).meta({ presence: 'required' });

/** A schema of exactly these fields. */
export function exactly(schemas: Readonly<Record<string, Joi.Schema>>): Joi.ObjectSchema {
  return strict.keys(schemas);
}

const schemasOf = (fields: Fields): Record<string, Joi.Schema> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => (field.special.isInternal ? [] : [[name, field.schema]])),
  );

/** The names in scripts of all values that answers with these fields need: the rare ones, or the others. */
function wireOf(fields: Fields, rare: boolean): string[] {
  const names = Object.entries(fields).flatMap(([name, field]) => {
    if (field instanceof Nested) return wireOf(field.fields, rare);
    const { isInternal, isRare = false, of, uses = [], named = name } = field.special;
    return isInternal || isRare !== rare ? [] : of ? [...uses] : [named];
  });
  return [...new Set(names)];
}

/** Reads the fields of an answer by their names in scripts. */
function readFields(fields: Fields, get: Get): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const name in fields) {
    const field = fields[name] as AnyField;
    const { isInternal, of, named = name } = field.special;
    if (isInternal) continue;
    if (field instanceof Nested) found[name] = readFields(field.fields, get);
    else
      try {
        found[name] = field.read(of ? of(get) : get(named));
      } catch (error) {
        throw new Error(`${name} ${(error as Error).message}`);
      }
  }
  return found;
}

/** Throws if a field is computed from a value that scripts do not send. */
function checkComputed(fields: Fields, pathTo: (name: string) => unknown): void {
  for (const field of Object.values(fields)) {
    if (field instanceof Nested) checkComputed(field.fields, pathTo);
    if (field.special.computed) mapped(field.special.computed, pathTo);
  }
}

/** Fields of a record that answers show as a nested object. In scripts they are fields of the record itself. */
export class Nested<F extends Fields> extends Field<Answered<F>> {
  readonly fields: F;
  constructor(fields: F) {
    super({ lua: 'text', read: (value) => value, schema: () => exactly(schemasOf(fields)) });
    this.fields = fields;
  }
}
export const nested = <F extends Fields>(fields: F): Field<Answered<F>> => new Nested(fields);

/**
 * A record, declared once in its room. Scripts access it by these names (redis/lua-records.ts), answers are built from it and
 * checked against it, and it is a component in OpenAPI and a row in the key table of lua/README.md.
 */
export class RecordDeclaration<F extends Fields = Fields> {
  /** The name in OpenAPI, e.g. `TaskGroup`. */
  readonly name: string;
  /** The name in scripts and of its key, e.g. `message`. */
  readonly luaName: string;
  readonly fields: F;
  /** The names of the values that scripts reply with, in order. */
  readonly wire: readonly string[];
  /** The names of the rare values, which are sent as a list at the end, or as one absent value. */
  readonly rare: readonly string[];
  #schema: Joi.ObjectSchema | undefined;
  /** The positions of both kinds of values. */
  readonly #places: ReadonlyMap<string, number>;
  readonly #rarePlaces: ReadonlyMap<string, number>;
  /** The Lua helper that finds packed records, which have no hash. */
  readonly packedBy: string | undefined;
  /** Types only. */
  declare readonly type: Answered<F>;

  constructor(name: string, fields: F, luaName = `${name.charAt(0).toLowerCase()}${name.slice(1)}`, packedBy?: string) {
    this.name = name;
    this.luaName = luaName;
    this.packedBy = packedBy;
    this.fields = fields;
    this.wire = wireOf(fields, false);
    this.rare = wireOf(fields, true).filter((one) => !this.wire.includes(one));
    this.#places = new Map(this.wire.map((one, place) => [one, place]));
    this.#rarePlaces = new Map(this.rare.map((one, place) => [one, place]));
    checkComputed(fields, (name) => this.pathTo(name));
  }

  get schema(): Joi.ObjectSchema {
    this.#schema ??= exactly(schemasOf(this.fields)).meta({ component: this.name });
    return this.#schema;
  }

  /** The answer's record from a script's reply. */
  read(row: Value): Answered<F> {
    const values = row as readonly Value[];
    const rare = (values[this.wire.length] ?? []) as readonly Value[];
    return this.of((name) => values[this.#places.get(name) ?? -1] ?? rare[this.#rarePlaces.get(name) ?? -1] ?? null);
  }

  /** The path to a value in the list that a script sends of a record, counted from 1 as in Lua. */
  pathTo(name: string): readonly number[] {
    const place = this.#places.get(name);
    if (place !== undefined) return [place + 1];
    const rarePlace = this.#rarePlaces.get(name);
    if (rarePlace === undefined) throw new Error(`${this.name}: scripts do not send ${name}`);
    return [this.width, rarePlace + 1];
  }

  /** The number of values that a script sends of a record. */
  get width(): number {
    return this.wire.length + (this.rare.length > 0 ? 1 : 0);
  }

  /** The answer's record from stored values, by their names in scripts. */
  of(values: Get | Readonly<Record<string, Value | undefined>>): Answered<F> {
    const get: Get = typeof values === 'function' ? values : (name) => values[name] ?? null;
    return readFields(this.fields, get) as Answered<F>;
  }

  with<More extends Fields>(name: string, more: More): RecordDeclaration<Omit<F, keyof More> & More> {
    return new RecordDeclaration<Omit<F, keyof More> & More>(name, { ...this.fields, ...more });
  }

  extended(more: Fields): RecordDeclaration {
    return new RecordDeclaration(this.name, { ...this.fields, ...more }, this.luaName, this.packedBy);
  }

  /** A new record without some of the fields. */
  without<K extends keyof F & string>(name: string, ...omitted: readonly K[]): RecordDeclaration<Omit<F, K>> {
    const kept = Object.entries(this.fields).filter(([field]) => !(omitted as readonly string[]).includes(field));
    return new RecordDeclaration(name, Object.fromEntries(kept) as unknown as Omit<F, K>);
  }
}

type Stored = readonly [name: string, field: AnyField];

/** The fields stored in the hash of a record, by their names in scripts; the id is part of the key. */
export function storedFields({ fields }: Pick<RecordDeclaration, 'fields'>): Stored[] {
  const found = new Map<string, AnyField>();
  const add = (all: Fields): void => {
    for (const [name, field] of Object.entries(all) as [string, AnyField][]) {
      if (field instanceof Nested) add(field.fields);
      const { of, isWorkedOut, named = name } = field.special;
      if (field instanceof Nested || of || isWorkedOut || named === 'id' || found.has(named)) continue;
      found.set(named, field);
    }
  };
  add(fields);
  return [...found];
}

/** The fields of a record's hash, for the key table. note: explains what the names do not. */
export function fieldsIn(declaration: RecordDeclaration, note?: string): string {
  const namesOf = (test: (field: AnyField) => boolean): string =>
    storedFields(declaration)
      .flatMap(([name, field]) => (test(field) ? [name] : []))
      .join(', ');
  const isAlwaysSet = ({ special }: AnyField): boolean => !special.isNullable && special.or === undefined;
  const always = namesOf((field) => isAlwaysSet(field) && !field.special.isSecret);
  const optional = namesOf((field) => !isAlwaysSet(field) && !field.special.isSecret);
  const secret = namesOf(({ special }) => special.isSecret === true);
  return [always, optional && `where set: ${optional}`, secret && `secret: ${secret}`, note].filter(Boolean).join('; ');
}

/** The states of a record that the census counts, and the plural it counts them under; undefined if it does not. */
export function countedStates({ fields }: RecordDeclaration) {
  const [name, { kind }] = Object.entries(fields).find(([, field]) => field.kind.counted !== undefined) ?? [
    '',
    { kind: {} },
  ];
  const { states = [], counted } = kind as AnyField['kind'] | { states?: undefined; counted?: undefined };
  return counted === undefined ? undefined : { name, counted, states };
}

/** The number of records in each state: the record's part of the census. */
export function census(declaration: RecordDeclaration): Field<Readonly<Record<string, number>>> {
  const { states = [], counted } = countedStates(declaration) ?? {};
  return nested(Object.fromEntries(states.map((state) => [state, counter(`${counted}:${state}`)])));
}

/** Declares a record. lua: its name in scripts and keys, if it differs. */
export const record = <F extends Fields>(name: string, fields: F, options: { lua?: string; packedBy?: string } = {}) =>
  new RecordDeclaration(name, fields, options.lua, options.packedBy);

/** A record inside a reply or another record. */
export class One<T> extends Field<T> {
  readonly record: RecordDeclaration;
  constructor(declaration: RecordDeclaration, isNullable = false) {
    super(
      { lua: 'text', read: (value) => declaration.read(value), schema: () => declaration.schema },
      isNullable ? { isNullable } : {},
    );
    this.record = declaration;
  }

  override orNull(): One<T | null> {
    return new One<T | null>(this.record, true);
  }
}

/** Records inside a reply or another record. */
export class Many<T> extends Field<readonly T[]> {
  readonly record: RecordDeclaration;
  constructor(item: RecordDeclaration, max?: number) {
    super({
      lua: 'text',
      read: (rows) => (rows as Value[]).map((row) => item.read(row)),
      schema: () => (max === undefined ? Joi.array() : Joi.array().max(max)).items(item.schema),
    });
    this.record = item;
  }
}

export const one = <F extends Fields>(declaration: RecordDeclaration<F>) => new One<Answered<F>>(declaration);
export const many = <F extends Fields>(item: RecordDeclaration<F>, max?: number) => new Many<Answered<F>>(item, max);

/** A room's member of an answer that several rooms share: its name and the script's value. */
export type Shown = [name: string, value: Value];

/** Reads the members of such an answer with the fields that rooms declare for them. */
export function readMembers(fields: Fields, shown: readonly Shown[]): Record<string, unknown> {
  const values = new Map(shown);
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, field.read(values.get(name) ?? null)]),
  );
}
