import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Edit, edited, parseLua, type Syntax, walk } from '../../src/engine/library/lua-syntax.ts';
import { isScript, luaFiles } from '../../src/engine/library/source.ts';
import { luaNames } from '../../src/primitives/primitives.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The set of Lua files of which a function has run, in a store of its own: the key belongs to no organization. */
export const walkedKey = 'walked';

/**
 * Overrides of all Lua files, written to `folder`: in each of its functions, a file adds its name to the set in `walkedKey`.
 */
export function markedLua(folder: string): Record<string, string> {
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

/** Whether a function has run. Those by which the loader of the tests exports names, `()=>name`, do not count. */
function hasRun({ functionName, ranges }: Profiler.FunctionCoverage): boolean {
  const [{ count, startOffset, endOffset } = { count: 0, startOffset: 0, endOffset: 0 }] = ranges;
  const isExport = endOffset - startOffset === `()=>${functionName}`.length;
  return count > 0 && !isExport && functionName !== 'get' && functionName !== '__name';
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
    const ran = result.filter(({ functions }) => functions.some(hasRun));
    const paths = ran.filter(({ url }) => url.startsWith('file:')).map(({ url }) => relative(root, fileURLToPath(url)));
    return paths.filter((path) => path.startsWith('src/')).sort();
  }

  stop(): void {
    this.#session.disconnect();
  }
}
