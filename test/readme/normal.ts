const widest = 118;

/** What differs between two runs of the same thing. Those that name something are numbered: the same thing has one number. */
const volatile: readonly { kind: string; pattern: RegExp; numbered?: true }[] = [
  { kind: 'key', pattern: /\bmk_[a-z0-9-]+_\w{43,}/g, numbered: true },
  { kind: 'secret', pattern: /\bwhsec_[\w+/=]{40,}/g, numbered: true },
  { kind: 'id', pattern: /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, numbered: true },
  { kind: 'sha256', pattern: /\b[0-9a-f]{64}\b/g, numbered: true },
  { kind: 'token', pattern: /\b[0-9a-f]{32}\b/g, numbered: true },
  { kind: 'time', pattern: /\b\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d[.-]\d{3}Z/g },
  { kind: 'date', pattern: /\b20\d\d-\d\d-\d\d\b/g },
  // A moment in milliseconds, an entry of a stream, the end of a function's name.
  { kind: 'entry', pattern: /\b1[6-9]\d{11}-\d+\b/g },
  { kind: 'moment', pattern: /\b1[6-9]\d{11}(?:\.\d+)?\b/g },
  // Of `date +%s`, in names that are unique.
  { kind: 'moment', pattern: /(?<=-)1[6-9]\d{8}\b/g },
  { kind: 'cursor', pattern: /(?<="nextCursor":"|^id: )[^"\s]+/gm },
  {
    kind: 'any',
    pattern: /(?<="(?:durationMs|bytes|keys|redisVersion|retainedBytes|oldest\w+AgeSeconds)":)(?:"[^"]*"|\d+)/g,
  },
  { kind: 'any', pattern: /(?<=^(?:bytes: |requests: |retainedBytes\t))\d+/gm },
  { kind: 'version', pattern: /(?<=^muster_\w+_)[0-9a-f]{8}$/gm },
  { kind: 'rate', pattern: /(?<="(?:space|org)";r=)\d+;t=\d+/g },
];

/** One side of a comparison: what is shown, or what was printed. Keeps the numbers from text to text. */
export class Normal {
  readonly #numbers = new Map<string, number>();

  /** The text with everything volatile replaced. */
  of(text: string): string {
    let normal = text;
    for (const { kind, pattern, numbered } of volatile)
      normal = normal.replaceAll(pattern, (found) => `<${kind}${numbered ? ` ${this.#number(kind, found)}` : ''}>`);
    return normal;
  }

  #number(kind: string, found: string): number {
    const name = `${kind} ${found}`;
    const number = this.#numbers.get(name) ?? this.#numbers.size + 1;
    this.#numbers.set(name, number);
    return number;
  }
}

/** A table of figures without them: its words, in their order. */
export function withoutFigures(text: string): string {
  return text
    .replaceAll(/\d[\d.]*/g, '#')
    .replaceAll(/ +/g, ' ')
    .trim();
}

/** JSON values as one line each; blank lines stand between values that are wrapped. */
export function compactJson(text: string, separator: RegExp): string {
  const values = text.split(separator).filter((value) => value.trim() !== '');
  return values.map((value) => JSON.stringify(JSON.parse(value))).join('\n');
}

/** A compact JSON value, broken at commas where a line would get too long. */
export function wrapJson(json: string): string {
  const lines: string[] = [];
  let line = '';
  for (const piece of json.match(/(?:"(?:\\.|[^"\\])*"|[^",])+,?/g) ?? []) {
    if (line.length + piece.length > widest) {
      lines.push(line);
      line = ' ';
    }
    line += piece;
  }
  return [...lines, line].join('\n');
}
