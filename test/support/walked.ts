import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Edit, edited, parseLua, type Syntax, walk } from '../../src/engine/library/lua-syntax.ts';
import { isScript, luaFiles } from '../../src/engine/library/source.ts';
import { luaNames } from '../../src/primitives/primitives.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The set of Lua files of which a function has run, in a store of its own: the key belongs to no organization. */
export const walkedKey = 'walked';

/** Overrides of all Lua files: in each of its functions, a file adds its name to the set in `walkedKey`. */
export function markedLua(): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-walked-'));
  const marked: Record<string, string> = {};
  for (const [file, path] of luaFiles(luaNames.folders)) {
    const text = readFileSync(path, 'utf8');
    const { body } = parseLua(text);
    const mark = `redis['call']('SADD', '${walkedKey}', 'lua/${file}.lua') `;
    const edits: Edit[] = [];
    const add = (first: Syntax | undefined): void => {
      if (first) edits.push({ from: first.range[0], to: first.range[0], text: mark });
    };
    if (isScript(file)) add(body[0] as Syntax);
    walk(body, (node) => {
      if (node.type === 'FunctionDeclaration') add(node.body[0] as Syntax | undefined);
    });
    const copy = join(folder, `${file}.lua`);
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, edited(text, edits));
    marked[file] = copy;
  }
  return marked;
}

/** The files below src/ of which a function has run in this process, since the last look. */
export class Walked {
  readonly #session = new Session();

  async start(): Promise<this> {
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    return this;
  }

  async take(): Promise<string[]> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    const ran = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0));
    if (process.env['FN'])
      for (const r of ran.filter(({ url }) => url.includes('/src/')))
        console.log(
          relative(root, fileURLToPath(r.url)),
          r.functions
            .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
            .map((f) => f.functionName || '?')
            .join(' '),
        );
    const paths = ran.filter(({ url }) => url.startsWith('file:')).map(({ url }) => relative(root, fileURLToPath(url)));
    return paths.filter((path) => path.startsWith('src/')).sort();
  }

  stop(): void {
    this.#session.disconnect();
  }
}
