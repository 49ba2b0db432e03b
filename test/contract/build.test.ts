import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { product } from '../../src/primitives.ts';
import { draftOf } from '../../src/redis/loader.ts';
import { Pace } from '../support/pace.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Each file of dist/ with the attributes that a write or rename would change. */
function written(): Record<string, string> {
  const paths = readdirSync(`${root}dist`, { recursive: true, encoding: 'utf8' });
  // Temporary files of other parts of a run.
  const files = paths.filter((path) => !path.startsWith('readme-')).map((path) => join(root, 'dist', path));
  const stats = files.map((path) => [path, statSync(path)] as const).filter(([, stat]) => stat.isFile());
  return Object.fromEntries(stats.map(([path, { ino, mtimeMs }]) => [path, `${ino} ${mtimeMs}`]));
}

const build = () => spawnSync(process.execPath, ['src/build/build.mjs'], { cwd: root });

describe('The build', () => {
  before(function () {
    this.timeout(120_000);
    build();
  });

  it('takes less than a second if nothing has changed, and writes nothing', async () => {
    const before = written();
    const pace = await Pace.begin();
    const { status } = build();
    await pace.expectDone(1000);
    expect(status).to.equal(0);
    expect(written()).to.deep.equal(before);
  });

  it('has the Lua library, as the loader drafts it from lua/, beside the bundle that looks for it', () => {
    const folder = `${root}dist/chunks/library/`;
    const { text, ...rest } = draftOf(product.words);
    expect(readFileSync(`${folder}library.lua`, 'utf8') === text, 'library.lua').to.equal(true);
    expect(JSON.parse(readFileSync(`${folder}library.json`, 'utf8'))).to.deep.equal(rest);
    const readers = readdirSync(`${root}dist`, { recursive: true, encoding: 'utf8' }).filter(
      (path) => path.endsWith('.js') && readFileSync(join(root, 'dist', path), 'utf8').includes('"library/"'),
    );
    expect(readers.map((path) => path.replace(/[\w-]+\.js$/, ''))).to.deep.equal(['chunks/']);
  });

  it('has the library for tokens in a file of its own, loaded by the first token alone', () => {
    const names = readdirSync(`${root}dist`, { recursive: true, encoding: 'utf8' });
    const texts = names
      .filter((path) => path.endsWith('.js'))
      .map((path) => [path, readFileSync(join(root, 'dist', path), 'utf8')] as const);
    const [library, ...others] = texts.filter(([, text]) => text.includes('ERR_JWS_INVALID')).map(([path]) => path);
    expect([library, others]).to.deep.equal([library, []]);
    const name = basename(library ?? '');
    const loaders = texts.filter(([path, text]) => path !== library && text.includes(name));
    expect(loaders.map(([path]) => path)).to.have.length(1);
    const [, text = ''] = loaders[0] ?? [];
    expect(text.split(name).length).to.equal(text.split(`import("./${name}")`).length);
  });
});
