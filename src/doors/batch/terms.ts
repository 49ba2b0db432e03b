import { randomUUID } from 'node:crypto';
import type Joi from 'joi';
import { isObject } from '../../engine/call/read-input.ts';
import { idForm } from '../../engine/declare/field.ts';
import { type ApiError, invalid } from '../../engine/route/errors.ts';
import { isUuid } from '../../engine/route/fields.ts';
import type { Route } from '../../engine/route/route.ts';
import { noId, type Reference, replaced } from './references.ts';
import { type ComparedAnswer, descriptionOf, isComparable, membersOf, type Source, textOf } from './sources.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The largest `expect`, in bytes. */
const maxExpectBytes = 4_096;

/** A reference in an atomic batch. In the arguments, a placeholder stands for its id until the store knows it. */
interface Traceable {
  /** From 1, in the order in which the batch's calls first use it. */
  readonly number: number;
  readonly placeholder: string;
  /** The position of the call's reply, from 1; the opening's is the first. */
  readonly index: number;
  readonly source: Source;
  /** The message if it leads to no id. */
  readonly refusal: string;
}

/** The ids of a list that must not name one twice, with placeholders for unknown ones. */
interface Distinct {
  readonly name: string;
  readonly ids: readonly string[];
}

/** The references of an atomic batch. Placeholders are random, so a caller cannot send one. */
export class References {
  readonly #all = new Map<string, Traceable>();
  /** The answers of the calls so far, in order. */
  readonly answers: ComparedAnswer[] = [];

  get placeholders(): readonly string[] {
    return [...this.#all.values()].map(({ placeholder }) => placeholder);
  }

  /**
   * The fields of a call with a placeholder in place of each reference, those references, and the lists that have any.
   * Opaque values stay as they are.
   *
   * @throws ApiError VALIDATION_FAILED for a reference that cannot lead to an id
   */
  placed(
    fields: Fields,
    index: number,
    route: Route,
  ): { fields: Fields; from: readonly Traceable[]; distinct: readonly Distinct[] } {
    const from = new Set<Traceable>();
    const given = replaced(fields, index, route, (reference) => {
      const traceable = this.#traceable(reference);
      from.add(traceable);
      return traceable.placeholder;
    });
    const placeholders = [...from].map(({ placeholder }) => placeholder);
    const distinct =
      from.size === 0 ? [] : listsIn(given).filter(({ ids }) => ids.some((id) => placeholders.includes(id)));
    return { fields: given, from: [...from].sort((a, b) => a.number - b.number), distinct };
  }

  #traceable(reference: Reference): Traceable {
    const { from, member } = reference;
    const refusal = noId(reference);
    const source = this.answers[from]?.idSource(member);
    if (!source) throw invalid(refusal);
    const key = `${from} ${member}`;
    const traceable = this.#all.get(key) ?? {
      number: this.#all.size + 1,
      placeholder: randomUUID(),
      index: from + 2,
      source,
      refusal,
    };
    this.#all.set(key, traceable);
    return traceable;
  }
}

/** All lists of objects with ids in a call's fields. */
function listsIn(value: unknown, name = ''): Distinct[] {
  if (Array.isArray(value)) {
    const idOf = (one: unknown): unknown =>
      Object.entries(Object(one)).find(([key, id]) => key.endsWith('Id') && typeof id === 'string')?.[1];
    return [{ name, ids: value.map((one) => String(idOf(one)).toLowerCase()) }];
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, one]) => listsIn(one, name === '' ? key : `${name}.${key}`));
}

/** A member that an answer must have. */
interface Expected {
  readonly name: string;
  readonly source: Source;
  /** The accepted texts. */
  readonly accepts: readonly string[];
  readonly wanted: string;
  readonly isFlag: boolean;
}

/**
 * Reads what a call expects of its answer: values of its members, or of its balances or counts.
 *
 * @throws ApiError VALIDATION_FAILED
 */
export function readExpect(expect: unknown, answer: ComparedAnswer): readonly Expected[] {
  if (expect === undefined || expect === null) return [];
  if (!isObject(expect) || Array.isArray(expect)) throw invalid('expect must be an object with members of the answer');
  if (Buffer.byteLength(JSON.stringify(expect)) > maxExpectBytes)
    throw invalid(`expect must not be larger than ${maxExpectBytes} bytes`);
  const { route, schemas } = answer;
  return Object.entries(expect).flatMap(([name, wanted]) => {
    const member = schemas.get(name);
    if (!member) throw unknown(name, route, schemas.keys());
    if (!nested.has(name)) return [readMember(name, wanted, member, answer)];
    if (!isObject(wanted) || Array.isArray(wanted))
      throw invalid(`expect.${name} must be an object with members of ${name}`);
    const inner = membersOf(member);
    return Object.entries(wanted).map(([key, value]) => {
      const schema = inner.get(key);
      if (!schema)
        throw unknown(
          `${name}.${key}`,
          route,
          [...inner.keys()].map((one) => `${name}.${one}`),
        );
      return readMember(`${name}.${key}`, value, schema, answer);
    });
  });
}

/** Objects whose members can be expected. */
const nested: ReadonlySet<string> = new Set(['balances', 'counts']);

function unknown(name: string, { call }: Route, known: Iterable<string>): ApiError {
  return invalid(
    `expect.${name} is not a member of the answer of ${call}, which has ${[...known].join(', ') || 'none'}`,
  );
}

function readMember(name: string, given: unknown, schema: Joi.Schema, answer: ComparedAnswer): Expected {
  const source = isComparable(schema) ? answer.source(name) : undefined;
  if (!source)
    throw invalid(`expect.${name} cannot be compared: only texts, ids, states, flags, numbers and amounts can`);
  const { type, rules } = descriptionOf(schema);
  const isId = rules?.some(({ args }) => args?.regex === String(idForm)) ?? false;
  const wanted = isId && typeof given === 'string' && isUuid(given) ? given.toLowerCase() : given;
  const { error } = schema.validate(wanted, { convert: false });
  if (error) throw invalid(`expect.${name} ${error.message.replace(/^"[^"]*" /, '')}`);
  const text = textOf(wanted);
  const isFlag = type === 'boolean';
  return { name, source, accepts: isFlag && text === '' ? ['', '0'] : [text], wanted: String(wanted), isFlag };
}
