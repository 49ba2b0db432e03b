/** The significant digits of a number. */
const digits = (number: string): string =>
  number
    .replace(/e.*/i, '')
    .replaceAll(/\D/g, '')
    .replaceAll(/^0+|0+$/g, '');

/** A number in this valid JSON that JavaScript would round; undefined if there is none. */
export function roundedIn(json: string): string | undefined {
  const numbers = json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').match(/-?\d[\d.eE+-]*/g) ?? [];
  return numbers.find((number) => digits(number) !== digits(String(Number(number))));
}
