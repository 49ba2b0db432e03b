import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
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

  it('has the SDK of OpenTelemetry in chunks that only an import of its exporter loads', () => {
    const files = readdirSync(`${root}dist`, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.js'),
    );
    const texts = files.map((path) => [path, readFileSync(join(root, 'dist', path), 'utf8')] as const);
    const chunks = texts.filter(([, text]) => text.includes('node_modules/@opentelemetry/sdk-trace'));
    expect(chunks).to.not.be.empty;
    for (const [chunk] of chunks) {
      const name = chunk.replace(/.*\//, '');
      const importers = texts.filter(([path, text]) => path !== chunk && text.includes(name));
      for (const [path, text] of importers)
        expect(
          text.includes(`import("./${name}")`) || text.includes(`import("../chunks/${name}")`),
          `${path} ${name}`,
        ).to.equal(true);
      expect(importers).to.not.be.empty;
    }
  });
});
