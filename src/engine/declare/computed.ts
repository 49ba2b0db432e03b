import type { Get, Value } from './value.ts';

/** The sum of amounts or units minus the sum of others; 0 if it would be negative. An absent one counts as 0. */
export interface Sum<S> {
  readonly sum: readonly S[];
  readonly less?: readonly S[];
}

/** The first word of a text. */
export interface Word<S> {
  readonly wordOf: S;
}

/** The text of the first value that is neither absent nor 0, or `otherwise`. */
export interface Cases<S> {
  readonly cases: readonly (readonly [value: S, text: string])[];
  readonly otherwise: string;
}

/**
 * How a field is computed from other values, as data: for answers here, for atomic batches in lua/lib/answers. S is the
 * name of a value in scripts, or where its text is.
 */
export type Computed<S = string> = Sum<S> | Word<S> | Cases<S>;

/** The same computation with the result of `to` in place of each name. */
export function mapped<S>(computed: Computed, to: (name: string) => S): Computed<S> {
  if ('sum' in computed) return { sum: computed.sum.map(to), less: (computed.less ?? []).map(to) };
  if ('wordOf' in computed) return { wordOf: to(computed.wordOf) };
  const { cases, otherwise } = computed;
  return { cases: cases.map(([name, text]) => [to(name), text]), otherwise };
}

/** The value, as text. */
export function compute(computed: Computed, get: Get): Value {
  if ('sum' in computed) {
    const total = (names: readonly string[]): bigint =>
      names.reduce((sum, name) => sum + BigInt(String(get(name) ?? 0)), 0n);
    const sum = total(computed.sum) - total(computed.less ?? []);
    return String(sum > 0n ? sum : 0n);
  }
  if ('wordOf' in computed) return String(get(computed.wordOf) ?? '').split(' ', 1)[0] ?? '';
  const isSet = (value: Value): boolean => value !== null && value !== '' && Number(value) !== 0;
  return computed.cases.find(([name]) => isSet(get(name)))?.[1] ?? computed.otherwise;
}
