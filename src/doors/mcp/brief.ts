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

/** Whether an answer has no content, or is a list without records. A record may have empty lists among its members. */
export function isEmpty(text: string): boolean {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) return value === null;
  const members = Object.entries(value).filter(([name]) => name !== 'nextCursor');
  return members.length > 0 && members.every(([, list]) => Array.isArray(list) && list.length === 0);
}

/** The filters of lists. The records of a page are not all, either. */
const filters = ['name', 'state', 'scopeId', 'messageId', 'prefix', 'workKey', 'key', 'cursor'];

/** What to do first: `whenEmpty`, unless something else may be there that the call did not ask for. */
export function hintOf(whenEmpty: string, given: Readonly<Record<string, unknown>>): string {
  const used = filters.filter((name) => given[name] !== undefined && given[name] !== null);
  if (used.length === 0) return whenEmpty;
  const [first = ''] = used;
  return `None with this ${used.join(', ')}: ${first} is ${quoted(given[first])}. Look without it to see what else there is.`;
}

/** Somebody else's text in a sentence of ours. */
const quoted = (value: unknown): string => {
  const text = [...String(value)];
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 63).join('')}…` : text.join(''));
};
