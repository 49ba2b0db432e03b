import type { AnyField, Fields } from '../declare/field.ts';
import { Many } from '../declare/record.ts';
import { fields, queryInteger, states } from './fields.ts';

/** The most records of each kind that a read of many kinds looks at. */
export const maxLooked = 500;

interface Wanted {
  readonly limit: number;
  readonly state?: string | undefined;
}

/** Filters of a read that shows records of many kinds: by state or by what they wait for. */
export const ofEachKind = (lists: Fields) =>
  fields({
    limit: queryInteger(1, maxLooked, 200).description('the most records of each kind'),
    state: states(...new Set(Object.values(lists).flatMap(statesOf))).meta({
      model: 'only these, as `counts` names them, with commas in between',
    }),
  });

function statesOf(list: AnyField): string[] {
  if (!(list instanceof Many)) return [];
  const { state, waitsFor } = list.record.fields;
  return ((state ?? waitsFor)?.schema.describe() as { allow?: string[] } | undefined)?.allow ?? [];
}

/** How many records of each kind to look at; records in other states are skipped. */
export const looksAt = ({ limit, state }: Wanted): number => (state === undefined ? limit : maxLooked);

/** The lists with only the wanted records, and whether any wanted record is left out. */
export function wantedOf<T extends Readonly<Record<string, unknown>>>(
  lists: T,
  { limit, state }: Wanted,
): { readonly lists: T; readonly isCut: boolean } {
  if (state === undefined) return { lists, isCut: false };
  const wanted = new Set<unknown>(state.split(','));
  let isCut = false;
  const cut = Object.entries(lists).map(([name, list]) => {
    if (!Array.isArray(list)) return [name, list];
    const found = list.filter((row: { state?: unknown; waitsFor?: unknown }) => wanted.has(row.state ?? row.waitsFor));
    isCut ||= found.length > limit;
    return [name, found.slice(0, limit)];
  });
  return { lists: Object.fromEntries(cut) as T, isCut };
}
