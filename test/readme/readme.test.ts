import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { muster } from '../support/cli.ts';
import { isLong } from '../support/long.ts';
import { Document } from './document.ts';
import { Reader, readAll } from './reader.ts';
import { specialsOf } from './special.ts';

const root = new URL('../../', import.meta.url);
const pathOf = (name: string): string => fileURLToPath(new URL(name, root));
const text = readFileSync(pathOf('README.md'), 'utf8');
/** Pages whose blocks are checked by a test of their own, or show no command. */
const unread = new Set(['docs/mcp.md', 'docs/design.md', 'docs/reference.md']);
/** README and the pages that it lists, in its order: a reader goes through them in one terminal. */
const listed = [...text.slice(text.indexOf('## All pages')).matchAll(/\]\((docs\/[\w/-]+\.md)\)/g)].map(
  ([, name = '']) => name,
);
const documents = ['README.md', ...listed]
  .filter((name) => !unread.has(name))
  .map((name) => [name, new Document(pathOf(name))] as const);

describe('README.md and its pages', () => {
  let reader: Reader;
  before(async () => {
    reader = await Reader.start();
  });
  after(() => reader.end());

  for (const [name, document] of documents) describe(name, () => readAll(document, () => reader));

  // In a suite of their own: mocha runs the tests of a suite before the suites in it.
  describe('together', () => {
    it('have blocks that can be pasted again, on the data of the first time', async () => {
      // Of those that are read first, what this depends on is the same.
      const first = ['README.md', 'docs/quickstart.md', 'docs/mailboxes.md'];
      const repeated = documents.filter(([name]) => isLong || first.includes(name));
      for (const example of repeated.flatMap(([, { examples }]) => examples)) {
        const { language, text } = example.block;
        // The server that refused private addresses has been replaced by one that allows them; other blocks are not for
        // pasting.
        const isOnce = text.startsWith('export HOOK=') || language !== 'bash' || specialsOf(text, root.pathname);
        if (!isOnce) await reader.repeat(example);
      }
    });

    const commands = documents.flatMap(([name]) => [
      ...readFileSync(pathOf(name), 'utf8').matchAll(/`(npm run [^`]*--help)`/g),
    ]);
    for (const [, command = ''] of commands)
      it(`have a working ${command}`, async () => {
        // That npm runs this command, the examples show.
        const [, words] = /^npm run -s muster -- (.*)$/.exec(command) ?? [];
        const help =
          words === undefined ? reader.bash(command) : muster(words.split(' '), {}).then(({ stdout }) => stdout);
        expect(await help).to.include('--');
      });

    it('are all that there are in docs/', () => {
      const all = readdirSync(pathOf('docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
        name.endsWith('.md'),
      );
      expect(listed).to.have.members(all.map((name) => `docs/${name}`));
    });
  });
});
