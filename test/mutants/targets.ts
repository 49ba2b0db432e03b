import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { luaFiles } from '../../src/engine/library/source.ts';
import { luaChanges } from './lua.ts';
import { type Mutant, mutantsOf } from './mutant.ts';
import { typescriptChanges } from './typescript.ts';

/** What is mutated together, and the tests that are to notice. */
export interface Target {
  readonly name: string;
  /** Its files, from the project's folder. */
  readonly files: readonly string[];
  readonly tests: readonly string[];
  readonly isLua: boolean;
}

/** Tests of a room that are not in its folder, or not named after it. */
const more: Readonly<Record<string, RegExp>> = {
  allowance: /^spec\/org\/key-limits/,
  budget: /^(spec\/(retention\/records|org\/key-limits)|stores\/)/,
  event: /^(workers\/packing|http\/wake|spec\/webhook\/)/,
  mailbox: /^(spec\/org\/key-limits|model\/(after|order|requires|turns|linearizability)|http\/payloads)/,
  org: /^http\/(access|keys|people|permissions)/,
  pool: /^spec\/(org\/key-limits|mailbox\/requires)/,
  question: /^(client\/asking|spec\/org\/key-limits)/,
  retention: /^(workers\/retention|spec\/\w+\/retention)/,
  scope: /^spec\/(\w+\/runs|space\/run|mailbox\/(pause|damaged))\./,
  space: /^http\/(batch|atomic|rates|idempotency)/,
  timer: /^(workers\/(sweeper|idle)|redis\/due|spec\/\w+\/late-sweep|model\/schedule)/,
  // Every call runs it.
  lib: /^(lua|http|model|spec)\//,
};
const clientTests = /^client\//;
/** What the workers of both languages do. */
const behaviours = /^clients\/behaviours\/worker\./;
/** They start the built program, take minutes, need the network's timeouts or compile. */
const unsuited =
  /^(spec\/(process|snapshot)\/|http\/connections|client\/(testing|types|worker-process))|many\.test|\/soak\.test|\/probe\//;

/** All targets: the rooms with Lua files, and the parts of the client. */
export function targets(root: string): Target[] {
  const inTest = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !unsuited.test(file))
    .sort();
  const tests = (...forms: (RegExp | undefined)[]): string[] =>
    inTest.filter((file) => forms.some((form) => form?.test(file))).map((file) => `test/${file}`);
  const files = [...luaFiles().keys()].map((file) => `lua/${file}.lua`);
  const rooms = [...new Set(files.map((file) => file.split('/')[1] ?? ''))];
  return [
    ...rooms.map((name) => ({
      name,
      files: files.filter((file) => file.startsWith(`lua/${name}/`)),
      tests: tests(new RegExp(`^(spec/${name}/|model/${name}\\b)`), more[name]),
      isLua: true,
    })),
    ...['worker', 'spend'].map((part) => ({
      name: `client/${part}`,
      files: readdirSync(join(root, 'src/clients/typescript', part)).map(
        (file) => `src/clients/typescript/${part}/${file}`,
      ),
      tests: tests(clientTests, part === 'worker' ? behaviours : undefined),
      isLua: false,
    })),
  ];
}

/** All mutants of these files, as they are in this folder. */
export function mutantsIn(root: string, files: readonly string[]): Mutant[] {
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return mutantsOf(file, text, file.endsWith('.lua') ? luaChanges(text) : typescriptChanges(text));
  });
}
