import { Raw } from '../declare/raw.ts';
import { invalid } from './errors.ts';

/**
 * Lossless JSON: payloads are copied from the request's text to the answer's text, so that their numbers are never parsed
 * (docs/reference.md, "Conventions").
 */

/** JSON.stringify with support for Raw, but not for toJSON or undefined items. Leaves out undefined members. */
export function stringify(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(stringify).join(',')}]`;
  let text = '';
  for (const name in value) {
    const member: unknown = value[name as keyof typeof value];
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${stringify(member)}`;
  }
  return `{${text}}`;
}

const long = /(?:^|[:,[\s])-?\d(?:[\d.]{15}|[\d.]*[eE][-+]?\d{3})/;

/** Whether a JSON text may have a number that a double cannot hold: one of 16 digits and more, or an exponent of three. */
export const mayLoseDigits = (text: string): boolean => long.test(text);

/** Deeper nesting is refused, as no client needs it and many parsers overflow on it. */
export const maxDepth = 512;

export const tooDeep = () => invalid(`the body nests deeper than ${maxDepth} levels`);

const quote = 34;
const backslash = 92;

/**
 * Finds the text of a member of a valid JSON object: `['payload']` at the top, or `['result', 'payload']` one level
 * down. Returns compact JSON, or undefined if there is no such member. The last of equal names wins, as in JSON.parse.
 * Throws VALIDATION_FAILED for a text nested too deeply, with or without that member.
 */
export function cut(text: string, wanted: readonly string[] | undefined): string | undefined {
  const target = wanted?.length ?? 0;
  const names: string[] = [];
  let depth = 0;
  let start = -1;
  let found: string | undefined;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) {
      const end = endOfString(text, i);
      if (depth > 0 && depth <= target) {
        const colon = skipSpace(text, end + 1);
        if (text[colon] === ':') {
          names[depth - 1] = JSON.parse(text.slice(i, end + 1)) as string;
          i = colon;
          // The last of equal names wins, so drop the text found in an earlier object of this name.
          if (depth < target && wanted?.every((name, level) => level >= depth || name === names[level]))
            found = undefined;
          if (depth === target && wanted?.every((name, level) => name === names[level])) start = colon + 1;
          continue;
        }
      }
      i = end;
    } else if (code === 123 || code === 91) {
      if (++depth > maxDepth) throw tooDeep();
    } else if (code === 125 || code === 93 || code === 44) {
      if (start !== -1 && depth === target) {
        found = compact(text.slice(start, i));
        start = -1;
      }
      if (code === 44) continue;
      depth--;
    }
  }
  return found;
}

/** The texts, as sent, of the elements of a list in a valid JSON object. The last of equal names wins, as in JSON.parse. */
export function elements(text: string, name: string): string[] {
  let found: string[] = [];
  let depth = 0;
  let isWanted = false;
  let start = -1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) {
      const end = endOfString(text, i);
      const colon = depth === 1 ? skipSpace(text, end + 1) : -1;
      if (colon !== -1 && text[colon] === ':') {
        isWanted = JSON.parse(text.slice(i, end + 1)) === name;
        if (isWanted) found = [];
        i = colon;
      } else i = end;
    } else if (code === 123 || code === 91) {
      if (++depth === 2 && isWanted) start = i + 1;
    } else if (code === 125 || code === 93 || code === 44) {
      const isEnd = depth === 2 && isWanted;
      if (isEnd) {
        const element = text.slice(start, i).trim();
        if (element !== '') found.push(element);
        start = i + 1;
      }
      if (code !== 44) depth--;
    }
  }
  return found;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  for (;;) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
}

function skipSpace(text: string, start: number): number {
  let i = start;
  while (text.charCodeAt(i) <= 32) i++;
  return i;
}

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[^\s"]+/g;

/**
 * Drops white space and needless escapes: this is the "compact JSON" that maxPayloadBytes counts. Numbers stay as written.
 */
function compact(text: string): string {
  if (!/[\s\\]/.test(text)) return text;
  return (text.match(tokens) ?? [])
    .map((token) => (token.includes('\\') ? JSON.stringify(JSON.parse(token)) : token))
    .join('');
}
