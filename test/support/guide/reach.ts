import { Builder, type LuaNames } from '../../../src/engine/library/loader.ts';
import { assigned, freePath, type Syntax, walk } from '../../../src/engine/library/lua-syntax.ts';
import { isScript, type LuaSource, type RequestKind } from '../../../src/engine/library/source.ts';
import { luaNames } from '../../../src/primitives/primitives.ts';

/** The code that can run in a script. It shows which keys the script writes and what it refuses. */
export interface Reach {
  /** `mailbox/send` */
  readonly name: string;
  /** The `---` lines of its header. */
  readonly summary: string;
  /** The files it includes, directly or indirectly. */
  readonly includes: readonly string[];
  readonly request: RequestKind | undefined;
  /** Its code and the code of every helper function it can reach, without comments. */
  readonly code: string;
}

interface Piece {
  readonly text: string;
  /** The names it uses. Functions that do not leave their file are `file#name`. */
  readonly names: ReadonlySet<string>;
}

interface LuaFile {
  readonly source: LuaSource;
  /** The code outside named functions, which runs at once or is registered for later. */
  readonly body: Piece;
  readonly functions: ReadonlyMap<string, Piece>;
  /** The registries it adds to, and those it only reads. */
  readonly registers: readonly string[];
  readonly asks: readonly string[];
}

/** Every script by name, in order. */
export function reaches(words: LuaNames = luaNames): readonly Reach[] {
  const builder = new Builder(words);
  const registries = new Set(
    builder.files().flatMap(({ registries: names, variables }) => names.filter((name) => !variables.includes(name))),
  );
  const files = new Map(builder.files().map((source) => [source.file, parse(source, registries)]));
  return [...files.keys()].filter(isScript).map((name) => {
    const includes = closure(name, builder, files);
    const { summary = '', request } = files.get(name)?.source ?? {};
    // The loader puts call.open into each script that answers requests.
    const start = request === undefined ? [] : ['call.open'];
    const code = reachable(
      start,
      [name, ...includes].flatMap((file) => files.get(file) ?? []),
    );
    return { name, summary, includes, request, code };
  });
}

function parse(source: LuaSource, registries: ReadonlySet<string>): LuaFile {
  const body: string[] = [];
  const functions = new Map<string, string>();
  const registers = new Set<string>();
  const asks = new Set<string>();
  for (const node of source.body) {
    const text = `${source.text.slice(...node.range).replaceAll(/--.*/g, '')}\n`;
    const name =
      node.type === 'FunctionDeclaration' && node.identifier
        ? source.text.slice(...(node.identifier as Syntax).range)
        : '';
    if (name === '') body.push(text);
    else functions.set(name, text);
    if (registries.has(name.split('.', 1)[0] ?? '')) registers.add(name.split('.', 1)[0] ?? '');
  }
  const isPrivate = (name: string): boolean =>
    functions.has(name) && !name.includes('.') && !source.exports.includes(name);
  const own = (name: string): string => (isPrivate(name) ? `${source.file}#${name}` : name);
  const piece = (text: string): Piece => ({ text, names: new Set([...namesIn(text)].map(own)) });
  walk(source.body, (node) => {
    if (node.type === 'AssignmentStatement')
      for (const target of node.variables) {
        const { name = '' } = assigned(target as Syntax) ?? {};
        if (registries.has(name)) registers.add(name);
      }
    const [name = ''] = freePath(node) ?? [];
    if (registries.has(name)) asks.add(name);
  });
  return {
    source,
    body: piece(body.join('')),
    functions: new Map([...functions].map(([name, text]) => [own(name), piece(text)])),
    registers: [...registers],
    asks: [...asks].filter((name) => !registers.has(name)),
  };
}

function closure(name: string, builder: Builder, files: ReadonlyMap<string, LuaFile>): string[] {
  const found = new Set<string>();
  const add = (file: string): void => {
    const asked = files.get(file)?.asks ?? [];
    const registering = [...files].filter(([, { registers }]) => registers.some((one) => asked.includes(one)));
    for (const include of [...builder.includesOf(file), ...registering.map(([other]) => other)]) {
      if (found.has(include) || isScript(include)) continue;
      found.add(include);
      add(include);
    }
  };
  add(name);
  return [...found];
}

/** Each dotted name in a text and its prefixes (`message` for `message.load`). */
function namesIn(text: string): Set<string> {
  const names = new Set<string>();
  for (const name of text.match(/[\w.]+/g) ?? []) {
    for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) names.add(name.slice(0, dot));
    names.add(name);
  }
  return names;
}

/** The files' code, and the functions that the code or `start` names, directly or indirectly. */
function reachable(start: readonly string[], files: readonly LuaFile[]): string {
  const left = new Map(files.flatMap((file) => [...file.functions]));
  const names = new Set(start);
  let code = '';
  const add = (piece: Piece): void => {
    code += piece.text;
    for (const name of piece.names) names.add(name);
  };
  for (const { body } of files) add(body);
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const [name, piece] of left) {
      if (!names.has(name)) continue;
      add(piece);
      left.delete(name);
    }
  }
  return code;
}
