import { expect } from 'chai';

type Hash = Readonly<Record<string, string>>;

/** How many differences a failure shows. */
const shown = 3;

/** Fails with the first differences, if there are any. */
export async function expectNone(differences: Iterable<string> | AsyncIterable<string>): Promise<void> {
  const first: string[] = [];
  for await (const one of differences) if (first.push(one) === shown) break;
  if (first.length > 0) expect.fail(first.join('\n'));
}

/** Fails where two lists first differ once they are sorted. */
export function expectSame(found: readonly string[], expected: readonly string[], what: string): void {
  const [all, known] = [[...found].sort(), [...expected].sort()];
  const differing = known.findIndex((entry, i) => entry !== all[i]);
  const from = differing === -1 ? known.length : differing;
  const [first, right] = [all, known].map((list) => list.slice(from, from + shown).join('\n'));
  if (first !== right) expect.fail(`${what}: ${first || 'nothing'} where ${right || 'nothing'} was counted`);
}

/** Counters of records, counted from other records. */
export class Counters {
  readonly #counted = new Map<string, Record<string, number>>();

  add(id: string, name: string, by = 1): void {
    const counters = this.#counted.get(id) ?? {};
    counters[name] = (counters[name] ?? 0) + by;
    this.#counted.set(id, counters);
  }

  of(id: string, name: string): number {
    return this.#counted.get(id)?.[name] ?? 0;
  }

  /** The stored counters that differ. */
  *differences(records: ReadonlyMap<string, Hash>, names: readonly string[]): Generator<string> {
    for (const [id, record] of records)
      for (const name of names) {
        const [stored, counted] = [Number(record[name] ?? 0), this.of(id, name)];
        if (stored !== counted) yield `${name} of ${id} is ${stored}, but ${counted} were counted`;
      }
  }
}
