import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Document } from './document.ts';
import { Reader, readAll } from './reader.ts';

const root = new URL('../../', import.meta.url);
const file = fileURLToPath(new URL('README.md', root));
const text = readFileSync(file, 'utf8');

describe('README.md', () => {
  let reader: Reader;
  before(async () => {
    reader = await Reader.start();
  });
  after(() => reader.end());

  readAll(new Document(file), () => reader);

  for (const [, command = ''] of text.matchAll(/`(npm run [^`]*--help)`/g))
    it(`${command} helps`, async function () {
      this.timeout(60_000);
      expect(await reader.bash(command)).to.include('--');
    });
});
