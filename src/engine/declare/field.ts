import { hash } from 'node:crypto';
import Joi from 'joi';
import { type Computed, compute } from './computed.ts';

import { Raw } from './raw.ts';
import type { Get, Value } from './value.ts';

interface ValueKind {
  /** The type in Lua: text as stored, a number, or a boolean. */
  readonly lua: 'text' | 'number' | 'flag';
  /** A text without spaces and quotes that is neither a number nor `null`. */
  readonly isWord?: true;
  /** The schema of a value that is present. */
  readonly schema: () => Joi.Schema;
  /** Converts a script's value, never null, to the answer's value. */
  readonly read: (value: Value) => unknown;
  /** The answer's value if the field is absent and cannot be null. */
  readonly absent?: unknown;
  /** The states of a state field, and the plural under which the census counts them. */
  readonly states?: readonly string[];
  readonly counted?: string;
}

interface Special {
  readonly isNullable?: true;
  /** The value in scripts if the field is not stored; `=name` for the value of another field. */
  readonly or?: string | number;
  /** The name in scripts, if it differs. */
  readonly named?: string;
  /** Computed from other fields for the answer: neither stored nor replied by scripts. */
  readonly of?: (get: Get) => Value;
  /** How, if atomic batches can compare it. */
  readonly computed?: Computed;
  /** The fields it is computed from that no other field of the record reads. */
  readonly uses?: readonly string[];
  /** Computed by scripts, so not stored under its name. */
  readonly isWorkedOut?: true;
  /** Not part of answers. A secret is not part of events and logs either, because it authorizes its holder. */
  readonly isInternal?: true;
  readonly isSecret?: true;
  /** A new record never has it. Scripts set it by `records.set`. */
  readonly isLater?: true;
  /** Few records have it. It is sent only with a record that has a rare field. */
  readonly isRare?: true;
  /** Its record's tombstone keeps it. */
  readonly isKept?: true;
  /** May be missing in an event's payload. */
  readonly isOptional?: true;
  /** Its meaning: a noun phrase, which may end with `; null: …`. */
  readonly meaning?: string;
  /** The meaning for a model that passes it to a tool. */
  readonly model?: string;
  /** A value for OpenAPI's examples, which show a nullable field only if it has one. */
  readonly example?: unknown;
}

/** The descriptive properties of a field. */
export type Words = Pick<Special, 'meaning' | 'model' | 'example'>;

type Visibility = 'answered' | 'internal' | 'optional';

/** A field of a record, a reply or an event: one of the kinds below, with options. */
export class Field<T, P extends Visibility = 'answered'> {
  readonly kind: ValueKind;
  readonly special: Special;
  /** Types only. */
  declare readonly type: T;
  declare readonly place: P;

  constructor(kind: ValueKind, special: Special = {}) {
    this.kind = kind;
    this.special = special;
  }

  /** A copy with other options, of the same class. */
  protected but<U = T, Q extends Visibility = P>(special: Special): Field<U, Q> {
    return Object.assign(Object.create(Object.getPrototypeOf(this)), this, {
      special: { ...this.special, ...special },
    });
  }

  /** Null in answers if it is absent or empty. For other options see `Special`. */
  orNull(): Field<T | null, P> {
    return this.but({ isNullable: true });
  }
  or(absent: string | number): Field<T, P> {
    return this.but({ or: absent });
  }
  named(name: string): Field<T, P> {
    return this.but({ named: name });
  }
  /** uses: names of values that it is computed from and that no other field of the record reads. */
  of(how: Computed | ((get: Get) => Value), ...uses: readonly string[]): Field<T, P> {
    return this.but(
      typeof how === 'function' ? { of: how, uses } : { of: (get) => compute(how, get), computed: how, uses },
    );
  }
  later(): Field<T, P> {
    return this.but({ isLater: true });
  }
  rare(): Field<T, P> {
    return this.but({ isRare: true });
  }
  kept(): Field<T, P> {
    return this.but({ isKept: true });
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
  means(meaning: string): Field<T, P> {
    return this.but({ meaning });
  }
  forModels(model: string): Field<T, P> {
    return this.but({ model });
  }
  example(example: T): Field<T, P> {
    return this.but({ example });
  }

  get schema(): Joi.Schema {
    const { isNullable, isOptional, meaning, example } = this.special;
    let schema = this.kind.schema();
    if (isNullable) schema = schema.allow(null);
    if (meaning !== undefined) schema = schema.description(meaning);
    if (example !== undefined) schema = schema.example(example);
    return isOptional ? schema.optional() : schema;
  }

  /** The answer's value; throws if a required value is missing. */
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

export type AnyField = Field<unknown, Visibility>;

export type Fields = Readonly<Record<string, AnyField>>;

/** The values of fields in answers, without internal ones. */
export type Answered<F extends Fields> = {
  readonly [K in keyof F as F[K]['place'] extends 'internal' ? never : K]: F[K]['type'];
};

export const idForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const minorForm = /^(0|[1-9][0-9]{0,17})$/;
const sumForm = /^(0|[1-9][0-9]*)$/;
const asText = { lua: 'text', read: String } as const;
const asWord = { ...asText, isWord: true } as const;

/** The id that OpenAPI's examples show wherever a field has this name. */
export const exampleId = (name: string): string => `0190a1b2-0000-7000-8000-${hash('sha256', name).slice(0, 12)}`;

/** A UUID in lower case. */
export const id = () => new Field<string>({ ...asWord, schema: () => Joi.string().pattern(idForm) });

export const text = (form?: RegExp) =>
  new Field<string>({ ...asText, schema: () => (form ? Joi.string().pattern(form) : Joi.string()) });

export const oneOf = <const S extends string>(...names: readonly S[]) =>
  new Field<S>({ ...asWord, schema: () => Joi.valid(...names) });

/** The state of a record, which the census counts as `<plural>:<STATE>`. */
export const state = <const S extends string>(counted: string, ...states: readonly S[]) =>
  new Field<S>({ ...asWord, schema: () => Joi.valid(...states), states, counted });

/** A counter of the space's record, such as `barriers:OPEN`. */
export const counter = (name: string) => number().or(0).named(name);

export const number = (min = 0, max?: number) =>
  new Field<number>({
    lua: 'number',
    read: Number,
    schema: () => (max === undefined ? Joi.number().integer().min(min) : Joi.number().integer().min(min).max(max)),
  });

/** A moment: epoch milliseconds in the store, ISO 8601 UTC with milliseconds in answers. */
export const time = () => new Field<string>({ lua: 'number', read: iso, schema: () => Joi.string().pattern(timeForm) });

/** Moments that Node computes, at most so many. */
export const times = (max: number) =>
  new Field<readonly string[]>({
    lua: 'text',
    read: (value) => value as unknown as readonly string[],
    schema: () => Joi.array().items(time().schema).max(max),
  });

/** An amount of money in minor units: a digit string, never a number. */
export const money = () => new Field<string>({ ...asText, schema: () => Joi.string().pattern(minorForm) });

/** How often each name occurs; scripts reply with a list of names and counts. */
export const countsByName = () =>
  new Field<Readonly<Record<string, number>>>({
    lua: 'text',
    read: (counts) => {
      const pairs = counts as unknown as readonly (readonly [name: string, count: string | number])[];
      return Object.fromEntries(
        pairs.map(([name, count]) => [name, Number(count)] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
      );
    },
    schema: () => Joi.object().pattern(Joi.string(), number().schema),
  });

/** A sum of amounts, which may have more than 18 digits. */
export const moneySum = () => new Field<string>({ ...asText, schema: () => Joi.string().pattern(sumForm) });

/** 1 in the store, or absent. */
export const flag = () =>
  new Field<boolean>({
    lua: 'flag',
    read: (value) => value === 1 || value === '1',
    absent: false,
    schema: () => Joi.boolean(),
  });

/** Any JSON value, returned as the text sent. */
export const opaque = () =>
  new Field<Raw>({ lua: 'text', read: (value) => new Raw(String(value)), schema: () => Joi.any() });

/** A value that its route or the answer's record reads. */
export const raw = <T extends Value = Value>() =>
  new Field<T>({ lua: 'text', read: (value) => value, absent: null, schema: () => Joi.any() });

/** Members of a reply that the answer's record reads. */
export const raws = <N extends string>(...names: readonly N[]): Readonly<Record<N, Field<Value>>> =>
  Object.fromEntries(names.map((name) => [name, raw()])) as Record<N, Field<Value>>;

/** The time at which a script made an id (lib/id), so a record with such an id need not store createdAt. */
export function momentOfId(id: unknown): number {
  const [high = '', low = ''] = String(id).split('-', 2);
  return Number.parseInt(high + low, 16);
}

/** ISO 8601 UTC with milliseconds, from epoch milliseconds. */
export function iso(at: unknown): string {
  return new Date(Number(at)).toISOString();
}

/** Whole seconds since a time; null if there is none. */
export function secondsSince(at: unknown, now: unknown): number | null {
  return at === null ? null : Math.max(0, Math.floor((Number(now) - Number(at)) / 1000));
}
