import { answerer } from '../../engine/call/response.ts';
import { type AnyField, type Fields, type Get, idForm } from '../../engine/declare/field.ts';
import { Many, Nested, One, type RecordDeclaration } from '../../engine/declare/record.ts';
import type { ReplyReader } from '../../engine/declare/reply.ts';
import type { Reply, Value } from '../../engine/declare/value.ts';
import { readHead } from '../../engine/route/reply-head.ts';
import type { Input, Route } from '../../engine/route/route.ts';

/** Where a member of an answer comes from in the script's reply (lua/lib/answers). The head has index 1. */
export type AnswerSource = (
  | { readonly at: readonly number[]; readonly absent?: string }
  | { readonly is: string }
  | { readonly of: string; readonly from: Readonly<Record<string, AnswerSource>> }
) & { readonly given?: readonly number[]; readonly other?: AnswerSource };

/** A member of an answer: its source and its kind. */
export interface MemberSource {
  readonly source: AnswerSource;
  readonly isFlag: boolean;
  /** Whether it may be an id. */
  readonly isId: boolean;
}

/** A value in a made-up reply: its position and its field. */
interface Mark {
  readonly at: readonly number[];
  readonly field: AnyField;
}

const flagOn = '1';
const firstNumber = 1_700_000_000_000;
const head = readHead('');
/** A link has no source: nothing can expect one, and it is not an id. */
const noLink = (): undefined => undefined;

/** Makes up replies of a script in which each value occurs once. */
class SampleReply {
  /** SampleReply by value. */
  readonly found = new Map<string, Mark>();
  readonly flags: (readonly number[])[] = [];
  readonly nullable: (readonly number[])[] = [];
  /** Nullable internal values of records, which answers show only under another name. */
  readonly hidden: (readonly number[])[] = [];
  readonly #seed: number;
  readonly #change: readonly number[] | undefined;

  /** change: the path of a flag to set, or of a member to make null. */
  constructor(seed: number, change?: readonly number[]) {
    this.#seed = seed;
    this.#change = change;
  }

  reply(shape: Fields): Reply {
    const members = Object.values(shape);
    const [first] = members;
    if (first instanceof One && members.length === 1) return this.#row(first.record, []);
    if (first instanceof Many && members.length === 1) return [0];
    return members.map((member, index) => {
      const at = [index + 2];
      if (member.special.isNullable) this.nullable.push(at);
      return this.#isChanged(at) && member.kind.lua !== 'flag' ? null : this.#value(member, at);
    });
  }

  #value(field: AnyField, at: readonly number[]): Value {
    if (field instanceof One) return this.#row(field.record, at);
    if (field instanceof Many) return [];
    if (field.kind.lua === 'flag') {
      this.flags.push(at);
      return this.#isChanged(at) ? flagOn : null;
    }
    if (isStructure(field)) return emptyOf(field);
    if (field.special.isNullable && field.special.isInternal) {
      this.hidden.push(at);
      if (this.#isChanged(at)) return null;
    }
    const number = this.#seed + this.found.size;
    const text = field.kind.lua === 'number' ? String(number) : formOf(field)(number);
    this.found.set(text, { at, field });
    return field.kind.lua === 'number' ? number : text;
  }

  /** If a record is the whole reply, its values directly follow the head. */
  #row(record: RecordDeclaration, at: readonly number[]): Value[] {
    const fields = fieldsByName(record.fields);
    const place = (index: number): readonly number[] => (at.length === 0 ? [index + 2] : [...at, index + 1]);
    const valueAt = (name: string, path: readonly number[]): Value => {
      const field = fields.get(name);
      return field && isPlain(field) ? this.#value(field, path) : null;
    };
    const values = record.wire.map((name, index) => valueAt(name, place(index)));
    const last = place(record.wire.length);
    return record.rare.length === 0
      ? values
      : [...values, record.rare.map((name, index) => valueAt(name, [...last, index + 1]))];
  }

  #isChanged(at: readonly number[]): boolean {
    return this.#change?.join() === at.join();
  }
}

const id = (number: number): string => `0190a1b2-0000-7000-8000-${String(number).slice(-12)}`;
const digits = (number: number): string => String(number);
const word = (number: number): string => `mark ${number}`;
const known = new WeakMap<AnyField, (number: number) => string>();

const takes = ({ schema }: AnyField, text: string): boolean => schema.validate(text).error === undefined;

/** Makes distinct texts that the field accepts. */
function formOf(field: AnyField): (number: number) => string {
  const form = known.get(field) ?? [id, digits].find((one) => takes(field, one(firstNumber))) ?? word;
  known.set(field, form);
  return form;
}

/** Whether any value of its kind will do. Internal texts have a structure that computed fields read; amounts have none. */
const isPlain = (field: AnyField): boolean =>
  !(field.special.isInternal && field.kind.lua === 'text') || formOf(field) === digits;

/** Whether its values are lists or objects. */
const isStructure = ({ schema }: AnyField): boolean => ['array', 'object'].includes(String(schema.type));

/** An empty list, an empty object, or null. */
function emptyOf(field: AnyField): Value {
  try {
    field.read(null);
    return null;
  } catch {
    return [];
  }
}

/** The fields of a record by their names in scripts. */
function fieldsByName(fields: Fields): Map<string, AnyField> {
  const found = new Map<string, AnyField>();
  for (const [name, field] of Object.entries(fields)) {
    if (field instanceof Nested) for (const [inner, one] of fieldsByName(field.fields)) found.set(inner, one);
    else if (!field.special.of) found.set(field.special.named ?? name, field);
  }
  return found;
}

/** The scalar members of an answer. Those of its objects are named `object.member`. */
function flattened(body: unknown): Map<string, unknown> {
  const members = new Map<string, unknown>();
  for (const [name, value] of Object.entries(body ?? {}))
    if (typeof value !== 'object' || value === null) members.set(name, value);
    else if (!Array.isArray(value))
      for (const [inner, one] of Object.entries(value))
        if (typeof one !== 'object' || one === null) members.set(`${name}.${inner}`, one);
  return members;
}

/**
 * Finds the sources of the members of a call's answer. It builds the answer to a made-up reply in which each value
 * occurs once, since an answer depends only on the reply and the call. None if that means parsing a text of the reply.
 */
export function answerSources(
  route: Route,
  read: ReplyReader<Fields>,
  input: Input,
): ReadonlyMap<string, MemberSource> {
  try {
    return traced(route, read, input);
  } catch {
    return new Map();
  }
}

function traced(route: Route, read: ReplyReader<Fields>, input: Input): ReadonlyMap<string, MemberSource> {
  const answer = answerer(route);
  const made = (seed: number, change?: readonly number[]) => {
    const marks = new SampleReply(seed, change);
    const { body } = answer({ head, reply: read(marks.reply(route.reply)) }, input, noLink);
    return { marks, body: flattened(body) };
  };
  const base = made(firstNumber);
  const other = made(firstNumber + 1_000_000);
  const records = recordsIn(route.reply);
  const trace = new Map<string, MemberSource>();
  const sourceOf = (value: unknown, { found }: SampleReply): AnswerSource => {
    const mark = found.get(String(value));
    if (mark)
      return {
        at: mark.at,
        ...(typeof mark.field.special.or === 'number' && { absent: String(mark.field.special.or) }),
      };
    return { is: textOf(value) };
  };
  for (const [name, value] of base.body) {
    const worked = workedOut(name, records);
    const isMark = base.marks.found.has(String(value));
    const source = (!isMark && worked?.source) || sourceOf(value, base.marks);
    if ('is' in source && textOf(other.body.get(name)) !== source.is) continue;
    const isId = idForm.test(String(value)) || worked?.isId === true;
    trace.set(name, { source, isFlag: typeof value === 'boolean', isId });
  }
  for (const flag of base.marks.flags) {
    const { body } = made(firstNumber, flag);
    for (const [name, value] of body)
      if (value === true && base.body.get(name) === false)
        trace.set(name, { source: { at: flag }, isFlag: true, isId: false });
  }
  const { nullable, hidden } = base.marks;
  for (const given of [...nullable, ...hidden]) {
    const { body, marks } = made(firstNumber, given);
    for (const [name, traced] of trace) {
      const { source } = traced;
      // A computed member handles absent values itself.
      if ('of' in source && hidden.includes(given)) continue;
      const value = body.get(name);
      const isNone = textOf(value) === '' && 'at' in source && source.at.join() === given.join();
      if (textOf(value) === textOf(base.body.get(name)) || isNone) continue;
      trace.set(name, { ...traced, source: { ...source, given, other: sourceOf(value, marks) } });
    }
  }
  return trace;
}

/** A value as lua/lib/answers compares it. */
export function textOf(value: unknown): string {
  return value === null || value === undefined || value === false ? '' : value === true ? flagOn : String(value);
}

/** The records in a reply, with the paths to their values. */
function recordsIn(shape: Fields): { readonly record: RecordDeclaration; readonly at: readonly number[] }[] {
  const members = Object.values(shape);
  return members.flatMap((member, index) =>
    member instanceof One ? [{ record: member.record, at: members.length === 1 ? [] : [index + 2] }] : [],
  );
}

/** A member computed from several values of a record. */
function workedOut(name: string, records: ReturnType<typeof recordsIn>): Omit<MemberSource, 'isFlag'> | undefined {
  for (const { record, at } of records) {
    const field = record.fields[name];
    const { of } = field?.special ?? {};
    if (!field || !of) continue;
    const place = (index: number): readonly number[] => (at.length === 0 ? [index + 2] : [...at, index + 1]);
    const from = namesIn(of).map((one): [string, AnswerSource] => {
      const index = record.wire.indexOf(one);
      return [one, { at: index >= 0 ? place(index) : [...place(record.wire.length), record.rare.indexOf(one) + 1] }];
    });
    const source = { of: `${record.luaName}.${name}`, from: Object.fromEntries(from) };
    return { source, isId: takes(field, id(firstNumber)) && !takes(field, word(firstNumber)) };
  }
  return undefined;
}

/** The names of the values that a member is computed from, present or not. */
function namesIn(of: (get: Get) => Value): string[] {
  const names = new Set<string>();
  for (const value of ['0', null]) {
    try {
      of((name) => {
        names.add(name);
        return value;
      });
    } catch {
      // Only the names count.
    }
  }
  return [...names];
}
