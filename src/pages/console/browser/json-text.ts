/** Cuts and indents JSON text without parsing it, so that numbers keep all their digits. */

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Numbers of 16 digits and more, or with an exponent of three, may lose digits. */
const long = /[:,[\s]-?\d(?:[\d.]{15}|[\d.]*[eE][-+]?\d{3})/;
/** Marks the text of a number that JavaScript would round. No payload has it. */
const mark = `${Math.random()} `;

/** Parses an answer. A number that would be rounded becomes a text, which the next three know. */
export function parse(text: string): unknown {
  if (!long.test(text)) return JSON.parse(text);
  const isRounded = (part: string): boolean => /^-?\d/.test(part) && String(Number(part)) !== part;
  return JSON.parse(text.replaceAll(token, (part) => (isRounded(part) ? JSON.stringify(mark + part) : part)));
}

/** Whether a value is a text in the answer, too. */
export const isText = (value: unknown): value is string => typeof value === 'string' && !value.startsWith(mark);

/** The JSON of a value, with all digits of its numbers. */
export const jsonOf = (value: unknown): string =>
  JSON.stringify(value).replaceAll(new RegExp(`"${mark}([^"]*)"`, 'g'), '$1');

/** A text as it is, any other value as JSON. */
export const textOf = (value: unknown): string => (isText(value) ? value : jsonOf(value));

/** The members of a JSON object, each as its original text; empty for any other JSON. */
export function members(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let depth = 0;
  let name: string | undefined;
  let from = 0;
  for (const { 0: part, index } of text.matchAll(token)) {
    if (depth === 1 && name === undefined && part.startsWith('"')) name = JSON.parse(part) as string;
    else if (depth === 1 && part === ':') from = index + 1;
    if (name !== undefined && depth === 1 && (part === ',' || part === '}')) {
      found.set(name, text.slice(from, index).trim());
      name = undefined;
    }
    if (part === '{' || part === '[') depth++;
    else if (part === '}' || part === ']') depth--;
    if (depth === 1 && part === '[') return found;
  }
  return found;
}

/** Indented by two spaces, with empty lists and objects on one line. */
export function pretty(text: string): string {
  let out = '';
  let depth = 0;
  let last = '';
  const line = (): string => `\n${'  '.repeat(depth)}`;
  for (const [part] of text.matchAll(token)) {
    const isOpen = last === '{' || last === '[';
    if (part === '}' || part === ']') {
      depth--;
      out += isOpen ? part : line() + part;
    } else {
      if (isOpen || last === ',') out += line();
      out += part === ':' ? ': ' : part;
      if (part === '{' || part === '[') depth++;
    }
    last = part;
  }
  return out;
}
