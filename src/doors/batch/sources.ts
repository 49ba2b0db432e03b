import type Joi from 'joi';
import { type Cases, mapped, type Sum, type Word } from '../../engine/declare/computed.ts';
import { exampleId, type Fields, idForm, timeForm } from '../../engine/declare/field.ts';
import { Nested, One } from '../../engine/declare/record.ts';
import { knownRecord } from '../../engine/route/record-answer.ts';
import type { Input, Route } from '../../engine/route/route.ts';

/** Where lua/lib/answers finds the text of a value. */
export type Source =
  /** In the script's reply, whose head has index 1. */
  | { readonly at: readonly number[]; readonly absent?: string }
  /** Here: it does not depend on the reply. */
  | { readonly is: string; readonly absent?: string }
  | Sum<Source>
  | Word<Source>
  | Cases<Source>
  /** If the reply has something at this path, `whole`, or else `made`. */
  | { readonly known: readonly number[]; readonly whole: Source; readonly made: Source };

/** Finds the source of a value by its name in scripts. */
type Find = (name: string) => Source;

/** A value as lua/lib/answers compares it. */
export function textOf(value: unknown): string {
  return value === null || value === undefined || value === false ? '' : value === true ? '1' : String(value);
}

/** Joi takes milliseconds to describe a large record. */
const described = new WeakMap<Route, ReadonlyMap<string, Joi.Schema>>();

/** The answer of a call to which other calls of an atomic batch refer, or of which it expects something. */
export class ComparedAnswer {
  readonly route: Route;
  readonly #input: Input;
  /** The members of the script's reply, in order (test/contract/sources.test.ts). */
  readonly #names: readonly string[];

  constructor(route: Route, input: Input) {
    this.route = route;
    this.#input = input;
    this.#names = Object.keys(route.reply);
  }

  /** The members, by name. */
  get schemas(): ReadonlyMap<string, Joi.Schema> {
    const { success } = this.route;
    const known = described.get(this.route);
    const all = known ?? new Map(Object.values(success).flatMap((schema) => (schema ? [...membersOf(schema)] : [])));
    described.set(this.route, all);
    return all;
  }

  /** The source of a member that may be an id. */
  idSource(member: string): Source | undefined {
    const schema = this.schemas.get(member);
    const mayBe = schema && isComparable(schema) && schema.validate(exampleId(member)).error === undefined;
    const source = mayBe ? this.source(member) : undefined;
    return source && 'is' in source && !idForm.test(source.is) ? undefined : source;
  }

  /**
   * The source of a member, as the route, its records and their fields declare it; undefined if only Node can compute it.
   * member: its name; that of an object's member is `object.member`.
   */
  source(member: string): Source | undefined {
    const { reply, makes, given } = this.route;
    const path = member.split('.');
    const [first = '', ...inner] = path;
    if (inner.length > 0 && reply[first] instanceof One) return this.#inRecord(first, inner);
    const asked = given?.(this.#input) ?? {};
    const made = sourceIn(makes?.fields ?? reply, path, (name) => {
      const value = asked[name] ?? null;
      return value === null && this.#names.includes(name) ? { at: [this.#indexOf(name)] } : { is: textOf(value) };
    });
    const known = knownRecord(this.route);
    const whole = known === undefined ? undefined : this.#inRecord(known, path);
    if (known === undefined || !made || !makes) return made ?? whole;
    // The record of an earlier call does not say that this one is a replay.
    return { known: [this.#indexOf(known)], whole: whole ?? { is: textOf(true) }, made };
  }

  /** The head has index 1. */
  #indexOf(name: string): number {
    return this.#names.indexOf(name) + 2;
  }

  #inRecord(name: string, path: readonly string[]): Source | undefined {
    const field = this.route.reply[name];
    if (!(field instanceof One)) return undefined;
    // If a record is the whole reply, its values directly follow the head.
    const isWhole = this.#names.length === 1;
    return sourceIn(field.record.fields, path, (value) => {
      const [index = 0, ...rare] = field.record.pathTo(value);
      return { at: isWhole ? [index + 1, ...rare] : [this.#indexOf(name), index, ...rare] };
    });
  }
}

function sourceIn(fields: Fields, [name = '', ...inner]: readonly string[], find: Find): Source | undefined {
  const field = fields[name];
  if (field instanceof Nested) return sourceIn(field.fields, inner, find);
  if (!field || field instanceof One || inner.length > 0) return undefined;
  const { computed, of, named = name, or } = field.special;
  if (computed) return mapped(computed, find);
  if (of) return undefined;
  return typeof or === 'number' ? { ...find(named), absent: String(or) } : find(named);
}

/** The members of an object, by name. */
export function membersOf(schema: Joi.Schema): Map<string, Joi.Schema> {
  const names = Object.keys((schema.describe()['keys'] ?? {}) as object);
  return new Map(names.map((name) => [name, (schema as Joi.ObjectSchema).extract(name)]));
}

interface Description {
  readonly type: string;
  readonly flags?: { readonly only?: boolean };
  readonly rules?: readonly { readonly name: string; readonly args?: { readonly regex?: string } }[];
}

export const descriptionOf = (schema: Joi.Schema): Description => schema.describe() as Description;

/** Whether a member of this kind can be compared. Objects, lists, opaque values and times cannot. */
export function isComparable(schema: Joi.Schema): boolean {
  const { type, flags, rules = [] } = descriptionOf(schema);
  if (type === 'any') return flags?.only === true;
  const isTime = rules.some(({ args }) => args?.regex === String(timeForm));
  return !isTime && ['string', 'number', 'boolean'].includes(type);
}
