import { isObject } from '../../engine/call/read-input.ts';

/** An answer with counts of its records by state instead of its lists. */
export function briefOf(text: string): string {
  const members = Object.entries(JSON.parse(text) as Record<string, unknown>);
  const lists = members.filter((member): member is [string, unknown[]] => Array.isArray(member[1]));
  const counts = lists.flatMap(([name, list]) => (list.length === 0 ? [] : [[name, countsOf(list)]]));
  const others = members.filter(([, value]) => !Array.isArray(value));
  return JSON.stringify({ ...Object.fromEntries(others), counts: Object.fromEntries(counts) });
}

/** Counts by state, or by what they wait for; for records with neither, their number. */
function countsOf(list: readonly unknown[]): unknown {
  const counts: Record<string, number> = {};
  for (const one of list) {
    const state = isObject(one) ? (one['state'] ?? one['waitsFor']) : undefined;
    if (typeof state !== 'string') return list.length;
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}

/** Whether an answer has no content, or only an empty list. */
export function isEmpty(text: string): boolean {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) return value === null;
  const lists = Object.values(value).filter(Array.isArray);
  return lists.length > 0 && lists.every((list) => list.length === 0);
}
