import { randomUUID } from 'node:crypto';
import { UnreadableValue } from '../clients/typescript/index.ts';
import { isObject } from '../engine/call/read-input.ts';
import { Raw } from '../engine/declare/raw.ts';

/** A copy of a result, with the text of each value that JavaScript cannot hold instead of the value. */
export function exact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(exact);
  if (!isObject(value) || 'toJSON' in value) return value;
  return Object.fromEntries(Object.keys(value).map((name) => [name, memberOf(value, name)]));
}

function memberOf(record: Record<string, unknown>, name: string): unknown {
  try {
    return exact(record[name]);
  } catch (error) {
    if (error instanceof UnreadableValue) return new Raw(error.text);
    throw error;
  }
}

/** JSON of an exact result, indented by so many spaces. */
export function jsonOf(value: unknown, indent: number): string {
  const mark = randomUUID();
  const texts: string[] = [];
  const marked = JSON.stringify(
    value,
    (_, one: unknown) => (one instanceof Raw ? `${mark}${texts.push(one.text) - 1}` : one),
    indent,
  );
  return marked.replaceAll(new RegExp(`"${mark}(\\d+)"`, 'g'), (_, index) => texts[Number(index)] ?? '');
}
