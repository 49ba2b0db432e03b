const start = /^(?:local )?function ([\w.]+)\(/;
const isWhole = /^(?:local )?function .*\bend(?: --.*)?$/;

interface Piece {
  readonly text: string;
  /** Of a function; '' for what is outside of them. */
  readonly name: string;
}

/** A helper's text as its functions, and what stands between them. */
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
    const [, begun] = start.exec(line) ?? [];
    if (name === '' && begun !== undefined) {
      close();
      name = begun;
    }
    lines.push(line);
    if (name !== '' && (/^end\b/.test(line) || isWhole.test(line))) close();
  }
  close();
  return pieces;
}

/** What a text names: each dotted name, and what it begins with (`message.load` names `message` too). */
function addNames(text: string, names: Set<string>): void {
  for (const [name] of text.matchAll(/[\w.]+/g)) {
    for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) names.add(name.slice(0, dot));
    names.add(name);
  }
}

/**
 * Leaves out the functions of helpers that nothing in the library names: Lua's garbage collection walks all that is
 * loaded, and every call pays for that. `registries` are tables whose functions are called without being named.
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
