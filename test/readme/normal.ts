const widest = 118;

/** Parts that differ between two runs. Identifiers are numbered, so that equal ones have the same number. */
const volatile: readonly { kind: string; pattern: RegExp; numbered?: true }[] = [
  { kind: 'key', pattern: /\bmk_[a-z0-9-]+_\w{43,}/g, numbered: true },
  { kind: 'secret', pattern: /\bwhsec_[\w+/=]{40,}/g, numbered: true },
  { kind: 'id', pattern: /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, numbered: true },
  { kind: 'sha256', pattern: /\b[0-9a-f]{64}\b/g, numbered: true },
  { kind: 'token', pattern: /\b[0-9a-f]{32}\b/g, numbered: true },
  { kind: 'time', pattern: /\b\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d[.-]\d{3}Z/g },
  { kind: 'date', pattern: /\b20\d\d-\d\d-\d\d\b/g },
  // Moments in milliseconds, stream entries, and the ends of function names.
  { kind: 'entry', pattern: /\b1[6-9]\d{11}-\d+\b/g },
  { kind: 'moment', pattern: /\b1[6-9]\d{11}(?:\.\d+)?\b/g },
  // `date +%s` in unique names.
  { kind: 'moment', pattern: /(?<=-)1[6-9]\d{8}\b/g },
  { kind: 'cursor', pattern: /(?<="nextCursor":"|^id: )[^"\s]+/gm },
  {
    kind: 'any',
    pattern: /(?<="(?:fence|durationMs|bytes|keys|redisVersion|retainedBytes|oldest\w+AgeSeconds)":)(?:"[^"]*"|\d+)/g,
  },
  { kind: 'any', pattern: /(?<=^(?:bytes: |requests: |retainedBytes\t))\d+/gm },
  { kind: 'version', pattern: /(?<=^muster_)[0-9a-f]{8}$/gm },
  { kind: 'rate', pattern: /(?<="(?:space|org)";r=)\d+;t=\d+/g },
];

/** One side of a comparison, the document or the output. Keeps its numbering from text to text. */
export class Normal {
  readonly #numbers = new Map<string, number>();

  /** The text with its volatile parts replaced. */
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

/** The words of a table without its figures, in order. */
export function withoutFigures(text: string): string {
  return text
    .replaceAll(/\d[\d.]*/g, '#')
    .replaceAll(/ +/g, ' ')
    .trim();
}

/** JSON values, one per line; blank lines separate wrapped ones. */
export function compactJson(text: string, separator: RegExp): string {
  const values = text.split(separator).filter((value) => value.trim() !== '');
  return values.map((value) => JSON.stringify(JSON.parse(value))).join('\n');
}

/** A compact JSON value, wrapped at commas. */
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
