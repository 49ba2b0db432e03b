import { fileURLToPath } from 'node:url';
import { Document } from './document.ts';
import { Reader, readAll } from './reader.ts';

describe('README.md', () => {
  let reader: Reader;
  before(async () => {
    reader = await Reader.start();
  });
  after(() => reader.end());

  readAll(new Document(fileURLToPath(new URL('../../README.md', import.meta.url))), () => reader);
});
