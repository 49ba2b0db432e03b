import { existsSync, readFileSync } from 'node:fs';
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

  it('names npm scripts and files that there are', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
    const named = [...text.matchAll(/\bnpm run (?:-s )?([\w:]+)/g)].map(([, name = '']) => name);
    expect(scripts).to.include.keys(...named);
    const files = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g), ...text.matchAll(/`((?:src|test|lua)\/[\w./-]+)`/g)];
    expect(files.map(([, path = '']) => path).filter((path) => !existsSync(new URL(path, root)))).to.deep.equal([]);
  });

  it('links to sections that there are', () => {
    const anchors = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    expect(anchors).to.include.members([...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor));
  });

  for (const [, command = ''] of text.matchAll(/`(npm run [^`]*--help)`/g))
    it(`${command} helps`, async function () {
      this.timeout(60_000);
      expect(await reader.bash(command)).to.include('--');
    });
});
