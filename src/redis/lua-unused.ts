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

/** Every name in a text, and what each begins with: `a.b.c` names `a`, `a.b` and itself. */
function* namesIn(text: string): Iterable<string> {
  for (const [name] of text.matchAll(/(?<![\w.])\w[\w.]*/g)) {
    for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) yield name.slice(0, dot);
    yield name;
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
  const named = new Set(namesIn(scripts));
  const isUsed = ({ name }: Piece): boolean => {
    const [table = ''] = name.split('.', 1);
    return name === '' || registries.has(table) || named.has(name);
  };
  for (let before = -1; before !== kept.size; ) {
    before = kept.size;
    for (const piece of all.flat()) {
      if (kept.has(piece) || !isUsed(piece)) continue;
      kept.add(piece);
      for (const name of namesIn(piece.text)) named.add(name);
    }
  }
  return all.map((pieces) => `${pieces.flatMap((piece) => (kept.has(piece) ? [piece.text] : [])).join('\n')}\n`);
}
