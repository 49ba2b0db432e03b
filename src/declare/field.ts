import Joi from 'joi';
import { iso } from './moment.ts';
import { Raw } from './raw.ts';
import type { Value } from './value.ts';

/** Reads a value by the name that scripts know it by; null where it is absent. */
export type Get = (name: string) => Value;

interface Kind {
  /** How scripts hold it: as it is stored, as a number, or as true and false. */
  readonly lua: 'text' | 'number' | 'flag';
  /** A text that is no number, nor null, and holds neither spaces nor quotes. */
  readonly isWord?: true;
  /** Of a value that is there. */
  readonly schema: () => Joi.Schema;
  /** Makes the answer's value of what a script replied; never of null. */
  readonly read: (value: Value) => unknown;
  /** What it reads where there is nothing and null is no answer. */
  readonly absent?: unknown;
  /** The states that it goes through, and the plural under which the census counts them. */
  readonly states?: readonly string[];
  readonly counted?: string;
}

interface Special {
  readonly isNullable?: true;
  /** What scripts see where the store has no such field; `=name`: what they see in that field. */
  readonly or?: string | number;
  /** The name that scripts know it by, where it is another one. */
  readonly named?: string;
  /** Made of other fields when it is answered: neither stored nor replied. */
  readonly of?: (get: Get) => Value;
  /** What it is made of, where nothing else is. */
  readonly uses?: readonly string[];
  /** Scripts work it out: it is not stored under its name. */
  readonly isWorkedOut?: true;
  /** Whether it is in answers; `secret`: nor in events and logs, for whoever has it may act. */
  readonly isInternal?: true;
  readonly isSecret?: true;
  /** An event's payload may lack it. */
  readonly isOptional?: true;
}

type Place = 'answered' | 'internal' | 'optional';

/** A field of a record, a reply or an event: one of the kinds below, and what is special about it. */
export class Field<T, P extends Place = 'answered'> {
  readonly kind: Kind;
  readonly special: Special;
  /** For the compiler alone. */
  declare readonly type: T;
  declare readonly place: P;

  constructor(kind: Kind, special: Special = {}) {
    this.kind = kind;
    this.special = special;
  }

  /** Of the same class: a list of records stays one. */
  protected but<U = T, Q extends Place = P>(special: Special): Field<U, Q> {
    return Object.assign(Object.create(Object.getPrototypeOf(this)), this, {
      special: { ...this.special, ...special },
    });
  }

  /** null in answers where it is absent or empty. The others are what `Special` says. */
  orNull(): Field<T | null, P> {
    return this.but({ isNullable: true });
  }
  or(absent: string | number): Field<T, P> {
    return this.but({ or: absent });
  }
  named(name: string): Field<T, P> {
    return this.but({ named: name });
  }
  /** uses: names that the compute function asks for and no other field brings. */
  of(compute: (get: Get) => Value, ...uses: readonly string[]): Field<T, P> {
    return this.but({ of: compute, uses });
  }
  workedOut(): Field<T, P> {
    return this.but({ isWorkedOut: true });
  }
  internal(): Field<T, 'internal'> {
    return this.but({ isInternal: true });
  }
  secret(): Field<T, 'internal'> {
    return this.but({ isInternal: true, isSecret: true });
  }
  optional(): Field<T, 'optional'> {
    return this.but({ isOptional: true });
  }

  get schema(): Joi.Schema {
    const { isNullable, isOptional } = this.special;
    const schema = isNullable ? this.kind.schema().allow(null) : this.kind.schema();
    return isOptional ? schema.optional() : schema;
  }

  /** The answer's value; throws where there must be one and none is there. */
  read(value: Value): T {
    const { isNullable, or } = this.special;
    if (value === null && typeof or === 'number') return this.kind.read(or) as T;
    if (value === null || (isNullable && value === '')) {
      if (isNullable) return null as T;
      if ('absent' in this.kind) return this.kind.absent as T;
      throw new Error('is missing');
    }
    return this.kind.read(value) as T;
  }
}

/** Any field. */
export type AnyField = Field<unknown, Place>;

/** Fields by their names. */
export type Fields = Readonly<Record<string, AnyField>>;

/** What fields hold in answers, but for those that are in none. */
export type Answered<F extends Fields> = {
  readonly [K in keyof F as F[K]['place'] extends 'internal' ? never : K]: F[K]['type'];
};

export const idForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const minorForm = /^(0|[1-9][0-9]{0,17})$/;
const asText = { lua: 'text', read: String } as const;
const asWord = { ...asText, isWord: true } as const;

/** A lower-case uuid. */
export const id = () => new Field<string>({ ...asWord, schema: () => Joi.string().pattern(idForm) });

/** A short text. */
export const text = (form?: RegExp) =>
  new Field<string>({ ...asText, schema: () => (form ? Joi.string().pattern(form) : Joi.string()) });

/** One of a few names. */
export const oneOf = <const S extends string>(...names: readonly S[]) =>
  new Field<S>({ ...asWord, schema: () => Joi.valid(...names) });

/** The state of a record: the census counts them as `<plural>:<STATE>`. */
export const state = <const S extends string>(counted: string, ...states: readonly S[]) =>
  new Field<S>({ ...asWord, schema: () => Joi.valid(...states), states, counted });

/** How many records a counter of the space's record counts, `barriers:OPEN`. */
export const counter = (name: string) => number().or(0).named(name);

/** A whole number, 0 or more where nothing else is said. */
export const number = (min = 0, max?: number) =>
  new Field<number>({
    lua: 'number',
    read: Number,
    schema: () => (max === undefined ? Joi.number().integer().min(min) : Joi.number().integer().min(min).max(max)),
  });

/** A moment: epoch milliseconds in the store, ISO 8601 UTC with milliseconds in answers. */
export const time = () => new Field<string>({ lua: 'number', read: iso, schema: () => Joi.string().pattern(timeForm) });

/** An amount of money in minor units: a digit string everywhere, never a number. */
export const money = () => new Field<string>({ ...asText, schema: () => Joi.string().pattern(minorForm) });

/** 1 in the store, or absent. */
export const flag = () =>
  new Field<boolean>({
    lua: 'flag',
    read: (value) => value === 1 || value === '1',
    absent: false,
    schema: () => Joi.boolean(),
  });

/** Any JSON value, as the text that was sent. */
export const opaque = () =>
  new Field<Raw>({ lua: 'text', read: (value) => new Raw(String(value)), schema: () => Joi.any() });

/** What a route takes apart by itself. */
export const raw = <T extends Value = Value>() =>
  new Field<T>({ lua: 'text', read: (value) => value, absent: null, schema: () => Joi.any() });
