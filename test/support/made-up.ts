import type { AnyField, Fields } from '../../src/engine/declare/field.ts';
import { Many, Nested, One, type RecordDeclaration } from '../../src/engine/declare/record.ts';
import type { Reply, Value } from '../../src/engine/declare/value.ts';
import type { Route } from '../../src/engine/route/route.ts';

interface Described {
  readonly type: string;
  readonly allow?: readonly unknown[];
}

const id = (n: number): string => `0190a1b2-0000-7000-8000-${String(n).padStart(12, '0')}`;
/** Texts from which answers compute members, by their names in scripts. */
const written: Readonly<Record<string, (n: number) => string>> = {
  line: (n) => `${id(n)} ${id(n + 1)}`,
  prerequisites: (n) => `WAIT m${id(n)}`,
};

/** The fields of a record by their names in scripts. */
function byName(fields: Fields): Map<string, AnyField> {
  return new Map(
    Object.entries(fields).flatMap(([name, field]): [string, AnyField][] => {
      if (field instanceof Nested) return [...byName(field.fields)];
      return field.special.of ? [] : [[field.special.named ?? name, field]];
    }),
  );
}

const forms = new WeakMap<AnyField, (n: number) => Value>();

/** Makes up values that the field accepts. */
function formOf(field: AnyField): (n: number) => Value {
  const known = forms.get(field);
  if (known) return known;
  const { schema } = field;
  const { type, allow = [] } = schema.describe() as Described;
  const names = allow.filter((one) => one !== null);
  const takes = (text: string): boolean => schema.validate(text).error === undefined;
  const form =
    (['array', 'object'].includes(type) ? () => (field.special.isNullable ? null : []) : undefined) ??
    (names.length > 0 ? (n: number) => String(names[n % names.length]) : undefined) ??
    [id, String].find((one) => takes(one(100))) ??
    ((n: number) => `w${n}`);
  forms.set(field, form);
  return form;
}

/** Makes up replies of scripts. Those of different seeds differ in what is absent and in their values. */
export class MadeUp {
  readonly #seed: number;
  #made = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** A reply without its head. */
  reply({ reply, makes }: Pick<Route, 'reply' | 'makes'>): Reply {
    const members = Object.entries(reply);
    const made = byName(makes?.fields ?? {});
    const [first] = members;
    if (members.length === 1 && first?.[1] instanceof One) return this.#row(first[1].record);
    return members.map(([name, field]) =>
      this.#value(name, (field instanceof One ? undefined : made.get(name)) ?? field),
    );
  }

  #row(record: RecordDeclaration): Value[] {
    const fields = byName(record.fields);
    const values = (names: readonly string[]): Value[] => names.map((name) => this.#value(name, fields.get(name)));
    const row = values(record.wire);
    return record.rare.length === 0 ? row : [...row, this.#chance(3) ? null : values(record.rare)];
  }

  #value(name: string, field: AnyField | undefined): Value {
    const n = ++this.#made * 100 + this.#seed;
    const { isNullable, isInternal, or } = field?.special ?? {};
    if ((isNullable || typeof or === 'number') && this.#chance(3)) return null;
    if (field instanceof One) return this.#row(field.record);
    if (field instanceof Many) return [];
    if (field?.kind.lua === 'flag') return this.#chance(2) ? '1' : null;
    if (field?.kind.lua === 'number') return this.#chance(5) ? 0 : n;
    const wrote = written[name];
    if (wrote) return wrote(n);
    if (!field) return String(n);
    const text = formOf(field)(n);
    // Other internal texts have a form of their own.
    return isInternal && text !== String(n) ? null : text;
  }

  #chance(of: number): boolean {
    return (this.#made * 7 + this.#seed * 3) % of === 0;
  }
}
