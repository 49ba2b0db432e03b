/**
 * A value as JSON; undefined if it has none.
 *
 * @throws TypeError for NaN and Infinity, which JSON.stringify would write as null
 */
export function jsonOf(value: unknown): string | undefined {
  const text = JSON.stringify(value) as string | undefined;
  if (text?.includes('null') && !hasNumbersOfJson(value)) throw new TypeError('NaN and Infinity are not JSON');
  return text;
}

function hasNumbersOfJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return true;
  return Object.values(value).every(hasNumbersOfJson);
}
