/**
 * A value of somebody else that JavaScript cannot hold: it has a number that would lose digits, such as 9007199254740993, or
 * 1e400. Thrown where the value is read, so that the rest of the answer is not affected.
 */
export class UnreadableValue extends Error {
  override readonly name = 'UnreadableValue';
  readonly #text: string;

  constructor(text: string) {
    // Without the number, as the message becomes a lastError, and the value may have been encrypted.
    super('the value has a number that JavaScript cannot hold: the JSON is in the text of this error');
    this.#text = text;
  }

  /** The value as JSON, for a parser that keeps all digits. */
  get text(): string {
    return this.#text;
  }
}

/** The fields whose values are the callers' own, whatever is in them. */
const opaque: readonly string[] = ['payload', 'result', 'outcome', 'progress', 'question', 'answer', 'value'];

/** Whether a field is opaque. A message's `question` is a record, which has the question itself. */
export const isOpaque = (name: string, has: (name: string) => boolean): boolean =>
  opaque.includes(name) && (name !== 'question' || has('answeredBy'));

/** Makes a field throw when it is read. */
export function setUnreadable(fields: object, name: string, error: unknown): void {
  const get = (): never => {
    throw error;
  };
  Object.defineProperty(fields, name, { get, enumerable: true, configurable: true });
}

export const isUnreadable = (fields: object, name: string): boolean =>
  Object.getOwnPropertyDescriptor(fields, name)?.get !== undefined;

/** Parses the JSON of an answer. An opaque value that cannot be held throws when it is read. */
export function parseAnswer(text: string): unknown {
  const answer: unknown = JSON.parse(text);
  if (!isHeld(text)) mark(answer, text, 0);
  return answer;
}

/**
 * Parses the JSON of a value.
 *
 * @throws {UnreadableValue}
 */
export function parseValue(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!isHeld(text)) throw new UnreadableValue(text);
  return value;
}

/** Any number with at most 15 digits and an exponent of two comes back as it was. */
const long = /(?:^|[:,[\s])-?\d(?:[\d.]{15}|[\d.]*[eE][-+]?\d{3})/;
const longOnes = /(?:^|[:,[\s])-?\d(?:[\d.]{15,}(?:[eE][-+]?\d+)?|[\d.]*[eE][-+]?\d{3,})/g;

/** Whether JavaScript holds all numbers in a valid JSON text. */
function isHeld(text: string): boolean {
  // Almost always, the first test is the only one. The second one may have found digits in strings.
  return !long.test(text) || areHeld(text) || areHeld(withoutStrings(text));
}

const areHeld = (text: string): boolean =>
  text.match(longOnes)?.every((one) => isNumberHeld(one.replace(/^[:,[\s]/, ''))) ?? true;

function withoutStrings(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (let start = text.indexOf('"'); start !== -1; start = text.indexOf('"', from)) {
    parts.push(text.slice(from, start));
    from = endOfString(text, start);
  }
  return parts.join('""') + text.slice(from);
}

/** The most digits that toPrecision takes. */
const maxDigits = 100;

/** Whether a number, printed with as many digits, is the same again. */
function isNumberHeld(text: string): boolean {
  const number = Number(text);
  if (String(number) === text) return true;
  const [digits, exponent] = decimalOf(text);
  if (digits === '') return true;
  if (!Number.isFinite(number) || number === 0 || digits.length > maxDigits) return false;
  const [ownDigits, ownExponent] = decimalOf(number.toPrecision(digits.length));
  return digits === ownDigits && exponent === ownExponent;
}

/** The digits of a number, without zeros at either end, and the power of ten that they are multiplied with. */
function decimalOf(text: string): readonly [digits: string, exponent: number] {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([-+]?\d+))?$/i.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  return [digits.slice(0, end), Number(exponent) - fraction.length + digits.length - end];
}

/** Makes the opaque values throw that cannot be held, in the parsed part of an answer whose text begins at `from`. */
function mark(part: unknown, text: string, from: number): void {
  if (typeof part !== 'object' || part === null) return;
  const spans = spansIn(text, from);
  for (const [name, [start, end]] of spans) {
    if (Array.isArray(part) || !isOpaque(name, (other) => spans.has(other)))
      mark(part[name as keyof typeof part], text, start);
    else if (!isHeld(text.slice(start, end))) setUnreadable(part, name, new UnreadableValue(text.slice(start, end)));
  }
}

/** Where the members or items of the object or list at `from` begin and end, by name or index. */
function spansIn(text: string, from: number): Map<string, readonly [start: number, end: number]> {
  const spans = new Map<string, readonly [number, number]>();
  const isList = text[from] === '[';
  for (let at = skipSpace(text, from + 1); text[at] !== ']' && text[at] !== '}'; ) {
    let name = String(spans.size);
    if (!isList) {
      const end = endOfString(text, at);
      name = JSON.parse(text.slice(at, end)) as string;
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    const end = endOfValue(text, at);
    spans.set(name, [at, end]);
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return spans;
}

function endOfValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; ; at++) {
    const code = text[at];
    if (code === '"') {
      at = endOfString(text, at) - 1;
      if (depth === 0) return at + 1;
    } else if (code === '{' || code === '[') depth++;
    else if (code === '}' || code === ']') {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (code === undefined || code === ',' || code.trim() === '')) return at;
  }
}

function endOfString(text: string, from: number): number {
  for (let end = from; ; ) {
    end = text.indexOf('"', end + 1);
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return end + 1;
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= 32) at++;
  return at;
}
