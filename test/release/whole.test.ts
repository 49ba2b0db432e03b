import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'chai';
import { tryClient, tryPython, tryServer } from '../../src/tools/release/install-checks.ts';
import { make, type Release } from '../../src/tools/release/make.ts';
import { folder, type ReleaseDirs, run } from '../../src/tools/release/release-dirs.ts';
import { openShop, root } from '../support/release.ts';

describe('npm run release', function () {
  this.timeout(600_000);
  let dirs: ReleaseDirs;
  let release: Release;
  before(async () => {
    dirs = await openShop();
    release = make(dirs);
  });
  after(() => rmSync(dirs.scratch, { recursive: true, force: true }));

  it('makes all files, the same every time, and each works where it is installed', () => {
    const { status, stdout, stderr } = spawnSync('npm', ['run', '-s', 'release'], { cwd: root, encoding: 'utf8' });
    expect(status, stderr).to.equal(0);
    expect(stdout).to.equal(`a dry run of v${release.version} publishes, from release/:\n${release.sums}`);
    expect(readFileSync(join(root, 'release/SHA256SUMS'), 'utf8')).to.equal(release.sums);
  });

  it('refuses a tag that is not the version', () => {
    const { status, stderr } = spawnSync('npm', ['run', '-s', 'release', '--', 'v9.9.9'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect([status, stderr]).to.deep.equal([1, `package.json has version ${release.version}, not 9.9.9\n`]);
  });

  /** The same package without some of its files. */
  function without(file: string, ...paths: string[]): string {
    const home = folder(dirs.scratch, 'without', basename(file));
    run(home, 'tar', ['xzf', file]);
    for (const path of paths) rmSync(join(home, path), { recursive: true });
    const lacking = join(dirname(home), `lacking-${basename(file)}`);
    run(home, 'tar', ['czf', lacking, ...readdirSync(home)]);
    // pip goes by the name.
    const named = join(folder(dirs.scratch, 'lacking'), basename(file));
    renameSync(lacking, named);
    return named;
  }

  it('fails with a client without its types, a server without a script, an sdist without a module', async () => {
    const types = without(release.client, 'package/dist/index.d.ts');
    expect(() => tryClient(dirs, types, {})).to.throw(/tsc/);
    const library = without(release.server, 'package/dist/chunks/library/library.lua', 'package/lua');
    let failed: unknown;
    await tryServer(dirs, library, release.version, () => undefined).catch((error: unknown) => {
      failed = error;
    });
    expect(String(failed)).to.match(/does not listen|serve ended with/);
    const module = without(release.sdist, `muster_client-${release.version}/muster/_worker/worker.py`);
    expect(() => tryPython(dirs, 'lacking', module, {})).to.throw(/muster\.testing/);
  });
});
