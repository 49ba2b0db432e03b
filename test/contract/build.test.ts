import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { draftOf } from '../../src/engine/library/loader.ts';
import { product } from '../../src/primitives/primitives.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Each file of dist/ with the attributes that a write or rename would change. */
function written(): Record<string, string> {
  const paths = readdirSync(`${root}dist`, { recursive: true, encoding: 'utf8' });
  // Temporary files of other parts of a run.
  const files = paths.filter((path) => !path.startsWith('readme-')).map((path) => join(root, 'dist', path));
  const stats = files.map((path) => [path, statSync(path)] as const).filter(([, stat]) => stat.isFile());
  return Object.fromEntries(stats.map(([path, { ino, mtimeMs }]) => [path, `${ino} ${mtimeMs}`]));
}

const build = () => spawnSync(process.execPath, ['src/tools/build/build.mjs'], { cwd: root });

/** What was built, by its path. */
function builtTexts(): (readonly [path: string, text: string])[] {
  const names = readdirSync(`${root}dist`, { recursive: true, encoding: 'utf8' });
  const files = names.filter((path) => path.endsWith('.js'));
  return files.map((path) => [path, readFileSync(join(root, 'dist', path), 'utf8')] as const);
}

describe('The build', () => {
  before(() => {
    build();
  });

  it('writes nothing if nothing has changed', async () => {
    const before = written();
    const { status } = build();
    expect(status).to.equal(0);
    expect(written()).to.deep.equal(before);
  });

  it('has source maps that lead to the sources, of the client as well', () => {
    let looked = 0;
    for (const folder of ['dist', 'src/clients/typescript/dist'].map((name) => join(root, name)))
      for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((one) =>
        one.endsWith('.map'),
      )) {
        const { sources } = JSON.parse(readFileSync(join(folder, path), 'utf8')) as { sources: string[] };
        for (const source of sources.filter((one) => !one.includes('node_modules'))) {
          expect(existsSync(join(folder, dirname(path), source)), `${path}: ${source}`).to.equal(true);
          looked++;
        }
      }
    expect(looked).to.be.above(100);
  });

  it('has the Lua library, as the loader drafts it from lua/, beside the bundle that looks for it', () => {
    const folder = `${root}dist/chunks/library/`;
    const { text, ...rest } = draftOf(product.words);
    expect(readFileSync(`${folder}library.lua`, 'utf8') === text, 'library.lua').to.equal(true);
    expect(JSON.parse(readFileSync(`${folder}library.json`, 'utf8'))).to.deep.equal(rest);
    const readers = builtTexts().filter(([, text]) => text.includes('"library/"'));
    expect(readers.map(([path]) => path.replace(/[\w-]+\.js$/, ''))).to.deep.equal(['chunks/']);
  });

  it('has the library for tokens in a file of its own, loaded by the first token alone', () => {
    const texts = builtTexts();
    const [library, ...others] = texts.filter(([, text]) => text.includes('ERR_JWS_INVALID')).map(([path]) => path);
    expect([library, others]).to.deep.equal([library, []]);
    const name = basename(library ?? '');
    const loaders = texts.filter(([path, text]) => path !== library && text.includes(name));
    expect(loaders.map(([path]) => path)).to.have.length(1);
    const [, text = ''] = loaders[0] ?? [];
    expect(text.split(name).length).to.equal(text.split(`import("./${name}")`).length);
  });

  it('has the SDK of OpenTelemetry in chunks that only an import of its exporter loads', () => {
    const texts = builtTexts();
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
