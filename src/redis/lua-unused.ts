const start = /^(?:local )?function ([\w.]+)\(/;
const isWhole = /^(?:local )?function .*\bend(?: --.*)?$/;

interface Piece {
  readonly text: string;
  /** The function's name; '' for text outside of functions. */
  readonly name: string;
}

/** Splits a helper's text into its functions and the text between them. */
function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let lines: string[] = [];
  let name = '';
  const close = (): void => {
    if (lines.length > 0) pieces.push({ text: lines.join('\n'), name });
    lines = [];
    name = '';
  };
  for (const line of text.split('\n')) {
    const [, started] = start.exec(line) ?? [];
    if (name === '' && started !== undefined) {
      close();
      name = started;
    }
    lines.push(line);
    if (name !== '' && (/^end\b/.test(line) || isWhole.test(line))) close();
  }
  close();
  return pieces;
}

/** Adds each dotted name in a text, and its prefixes (`message` for `message.load`). */
export function addNames(text: string, names: Set<string>): void {
  for (const name of text.match(/[\w.]+/g) ?? []) {
    if (names.has(name)) continue;
    for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) names.add(name.slice(0, dot));
    names.add(name);
  }
}

/**
 * Removes helper functions whose names occur nowhere in the library: Lua's garbage collector visits everything that is
 * loaded, and every call pays for that. Functions in the tables `registries` are called without being named.
 */
export function withoutUnused(
  helpers: readonly string[],
  scripts: string,
  registries: ReadonlySet<string>,
): readonly string[] {
  const all = helpers.map(piecesOf);
  const kept = new Set<Piece>();
  const names = new Set<string>();
  addNames(scripts, names);
  const isUsed = ({ name }: Piece): boolean =>
    name === '' || names.has(name) || registries.has(name.split('.', 1)[0] ?? '');
  for (let before = -1; before !== kept.size; ) {
    before = kept.size;
    for (const piece of all.flat()) {
      if (kept.has(piece) || !isUsed(piece)) continue;
      kept.add(piece);
      addNames(piece.text, names);
    }
  }
  return all.map((pieces) => `${pieces.flatMap((piece) => (kept.has(piece) ? [piece.text] : [])).join('\n')}\n`);
}
