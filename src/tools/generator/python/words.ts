import { wrapped } from '../document.ts';

const keywords = new Set(['from', 'global', 'import', 'class', 'is', 'in', 'not', 'pass', 'with', 'def', 'del']);

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A name in Python's spelling, such as lease_expires_at for `leaseExpiresAt`. */
export function snake(name: string): string {
  const spelled = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  return keywords.has(spelled) ? `${spelled}_` : spelled;
}

export const literal = (value: unknown): string => `'${String(value)}'`;
export const union = (types: readonly string[]): string => {
  const all = [...new Set(types)].sort((a, b) => Number(a === 'None') - Number(b === 'None'));
  return all.includes('Any') ? 'Any' : all.join(' | ');
};

/** A docstring of parts: a string is a paragraph to wrap, and a list has lines that are kept as they are. */
export function docstring(paragraphs: readonly (string | readonly string[])[], indent: string): string {
  const lines = paragraphs.flatMap((part, i) => [
    ...(i > 0 ? [''] : []),
    ...(typeof part === 'string' ? wrapped(part, 98 - indent.length) : part),
  ]);
  const safe = lines
    .map((line) => (line === '' ? '' : indent + line.replaceAll('\\', '\\\\')))
    .map((line) => line.trimEnd());
  const [first = '', ...rest] = safe;
  if (rest.length === 0) return `${indent}"""${sentence(first.trim())}"""`;
  return `${indent}"""${first.trim()}\n${rest.join('\n')}\n${indent}"""`;
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** `name: text`, with the following lines indented. */
export function described(name: string, text: string, indent: string): string[] {
  return wrapped(`${name}: ${text}`, 90 - indent.length).map((line, i) => `${indent}${i > 0 ? '    ' : ''}${line}`);
}

/** `message.send` as a module constant, MESSAGE_SEND. */
export const constant = (operationId: string): string => snake(operationId.replace('.', '_')).toUpperCase();

/** `MessageSend` of `message.send`. */
export const capitalized = (operationId: string): string => operationId.split('.').map(capital).join('');
