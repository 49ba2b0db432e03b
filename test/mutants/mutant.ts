import { createHash } from 'node:crypto';
import type { Edit } from '../../src/engine/library/lua-syntax.ts';

export type Kind = 'comparison' | 'operator' | 'constant' | 'dropped call' | 'condition made false';

/** A change of a part of a file. */
export interface Change extends Edit {
  readonly kind: Kind;
}

/** One change of one file. Its names are texts, so that it is found again when its line has moved. */
export interface Mutant {
  /** `lua/barrier/cancel.lua` */
  readonly file: string;
  readonly kind: Kind;
  /** The number of the first line that it changes, in the present file. */
  readonly at: number;
  /** The lines that it changes, and what becomes of them; white space at their ends is left out. */
  readonly line: string;
  readonly becomes: string;
  /** Equal changes of equal lines of the file are counted from 1. */
  readonly nth: number;
  /** The whole file with the change. */
  readonly text: string;
}

/** All mutants of a file, in the order of its text. */
export function mutantsOf(file: string, text: string, changes: readonly Change[]): Mutant[] {
  const seen = new Map<string, number>();
  return [...changes]
    .sort((a, b) => a.from - b.from)
    .map(({ kind, from, to, text: replacement }) => {
      const begin = text.lastIndexOf('\n', from - 1) + 1;
      const next = text.indexOf('\n', to);
      const end = next < 0 ? text.length : next;
      const line = text.slice(begin, end).trim();
      const becomes = (text.slice(begin, from) + replacement + text.slice(to, end)).trim();
      const name = JSON.stringify([line, becomes]);
      const nth = (seen.get(name) ?? 0) + 1;
      seen.set(name, nth);
      const at = text.slice(0, from).split('\n').length;
      return { file, kind, at, line, becomes, nth, text: text.slice(0, from) + replacement + text.slice(to) };
    });
}

export const nameOf = ({ file, line, becomes, nth }: Omit<Mutant, 'kind' | 'at' | 'text'>): string =>
  [file, line, becomes, ...(nth > 1 ? [nth] : [])].join('\n');

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/**
 * All mutants in an order that depends on the seed only: the kinds take turns, so that constants, of which there are most, do
 * not crowd out the rest. A mutant keeps its rank among those of its kind when other lines change.
 */
export function drawn(mutants: readonly Mutant[], seed: number): Mutant[] {
  const rank = new Map(mutants.map((mutant) => [mutant, hashOf(`${seed}\n${nameOf(mutant)}`)]));
  const byRank = (a: Mutant, b: Mutant): number => ((rank.get(a) ?? '') < (rank.get(b) ?? '') ? -1 : 1);
  const turns = new Map<Kind, number>();
  return [...mutants]
    .sort(byRank)
    .map((mutant) => {
      const turn = turns.get(mutant.kind) ?? 0;
      turns.set(mutant.kind, turn + 1);
      return { mutant, turn };
    })
    .sort((a, b) => a.turn - b.turn || byRank(a.mutant, b.mutant))
    .map(({ mutant }) => mutant);
}
