import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Document } from './document.ts';
import { Reader, readAll } from './reader.ts';
import { specialsOf } from './special.ts';

const root = new URL('../../', import.meta.url);
const file = fileURLToPath(new URL('README.md', root));
const text = readFileSync(file, 'utf8');

describe('README.md', () => {
  let reader: Reader;
  before(async () => {
    reader = await Reader.start();
  });
  after(() => reader.end());

  const document = new Document(file);
  readAll(document, () => reader);

  it('has blocks that can be pasted again, on the data of the first time', async function () {
    this.timeout(120_000);
    for (const example of document.examples) {
      const { language, text } = example.block;
      // The server that refused private addresses has been replaced by one that allows them; other blocks are not for
      // pasting.
      const isOnce = text.startsWith('export HOOK=') || language !== 'bash' || specialsOf(text, root.pathname);
      if (!isOnce) await reader.repeat(example);
    }
  });

  for (const [, command = ''] of text.matchAll(/`(npm run [^`]*--help)`/g))
    it(`has a working ${command}`, async function () {
      this.timeout(60_000);
      expect(await reader.bash(command)).to.include('--');
    });
});
