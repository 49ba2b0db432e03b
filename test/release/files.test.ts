import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { version } from '../../src/package.ts';
import type { Bill } from '../../src/tools/release/bill.ts';
import { differing, followDockerfile } from '../../src/tools/release/image.ts';
import { make, type Release } from '../../src/tools/release/make.ts';
import { folder, type ReleaseDirs, run } from '../../src/tools/release/release-dirs.ts';
import { readCompose } from '../docker/compose.ts';
import { openShop, root } from '../support/release.ts';

// whole.test.ts installs and uses what is made here.
describe('The files of a release', function () {
  this.timeout(120_000);
  let dirs: ReleaseDirs;
  let release: Release;
  before(async () => {
    dirs = await openShop();
    release = make(dirs);
  });
  after(() => rmSync(dirs.scratch, { recursive: true, force: true }));

  it('are all that is published, with checksums that hold', () => {
    const names = [
      `muster-client-${version}.cdx.json`,
      `muster-client-${version}.tgz`,
      `muster-image-${version}.tar.gz`,
      `muster-server-${version}.cdx.json`,
      `muster-server-${version}.tgz`,
      `muster_client-${version}-py3-none-any.whl`,
      `muster_client-${version}.tar.gz`,
      'notes.md',
    ];
    expect(readdirSync(dirs.out).sort()).to.deep.equal(['SHA256SUMS', ...names]);
    expect(release.sums.split('\n').map((line) => line.slice(66))).to.deep.equal([...names, '']);
    const check = () =>
      execFileSync('sha256sum', ['--strict', '--check', '--status', 'SHA256SUMS'], { cwd: dirs.out, stdio: 'pipe' });
    check();
    writeFileSync(join(dirs.out, 'notes.md'), 'changed');
    expect(check).to.throw();
  });

  it("have manifests without a checkout's parts", () => {
    for (const name of ['server', 'client'] as const) {
      const manifest = JSON.parse(run(dirs.out, 'tar', ['xzOf', release[name], 'package/package.json']));
      expect(manifest).to.include({ name: `muster-${name}`, version });
      expect(manifest).to.not.have.any.keys('private', 'workspaces', 'devDependencies', 'overrides', 'scripts');
    }
  });

  it('name every bundled package in the bills of materials, with origin, hash and licence', () => {
    const billOf = (name: string): Bill =>
      JSON.parse(readFileSync(join(dirs.out, `${name}-${version}.cdx.json`), 'utf8'));
    const server = billOf('muster-server');
    const notices = readFileSync(join(root, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8').split(`\n${'-'.repeat(80)}\n\n`);
    const bundled = notices.map((notice) => (notice.split('\n')[0] ?? '').replace(/ ([\d.]+\S*)$/, '@$1'));
    const scalar = server.components.filter((one) => one.name === 'api-reference' || one.name.includes('@scalar'));
    expect(scalar, 'the page of /docs/api').to.have.length(1);
    const refs = server.components.map((one) => one['bom-ref']);
    expect(new Set(refs)).to.have.property('size', refs.length);
    expect(refs).to.have.members([...bundled, scalar[0]?.['bom-ref']]);
    for (const component of server.components) {
      expect(component, component['bom-ref']).to.include.all.keys('purl', 'hashes', 'licenses');
      expect(component['bom-ref']).to.not.equal('typescript');
    }
    for (const name of ['muster-server', 'muster-client']) {
      const bill = billOf(name);
      const known = [`${name}@${version}`, ...bill.components.map((one) => one['bom-ref'])];
      expect(bill).to.include({ bomFormat: 'CycloneDX' });
      expect(bill.metadata.component).to.include({ name, version, purl: `pkg:npm/${name}@${version}` });
      expect(known).to.include.members(bill.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]));
    }
    expect(billOf('muster-client').components).to.deep.equal([]);
  });

  it('include all that the image is built from, and all that Compose mounts', () => {
    const context = folder(dirs.scratch, 'context');
    run(context, 'tar', ['xzf', release.image, '--strip-components=1']);
    const ran: string[] = [];
    const home = followDockerfile(context, dirs.scratch, (build, line) => {
      ran.push(line);
      // As far as the build is concerned, it has what it is made from, and nothing that a checkout has besides.
      if (line === 'npm run -s build') cpSync(join(root, 'dist'), join(build, 'dist'), { recursive: true });
    });
    expect(ran).to.deep.equal(['npm ci --ignore-scripts', 'npm run -s build']);
    expect(readdirSync(home).sort()).to.deep.equal(['LICENSE', 'dist', 'package.json']);
    expect(differing(join(home, 'dist'), join(root, 'dist'))).to.deep.equal([]);
    rmSync(join(home, 'dist/main.js'));
    writeFileSync(join(home, 'dist/cli/bin.js'), 'changed');
    expect(differing(join(home, 'dist'), join(root, 'dist')).sort()).to.deep.equal(['cli/bin.js', 'main.js']);
    for (const { file = '' } of Object.values(readCompose().configs))
      expect(existsSync(join(context, file)), file).to.equal(true);
    for (const path of ['node_modules', 'dist', 'src/clients/typescript/dist', 'test'])
      expect(existsSync(join(context, path)), path).to.equal(false);
  });

  it('include an sdist that an index takes; it and the wheel have the licence', () => {
    const inSdist = run(dirs.out, 'tar', ['tzf', release.sdist]).split('\n');
    for (const name of ['PKG-INFO', 'LICENSE', 'pyproject.toml', 'muster/_calls.py', 'muster/py.typed'])
      expect(inSdist).to.include(`muster_client-${version}/${name}`);
    const list = 'import sys, zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist(), sep="\\n")';
    const inWheel = run(dirs.out, dirs.python.command, ['-c', list, release.wheel], dirs.python.env).split('\n');
    for (const name of [`muster_client-${version}.dist-info/licenses/LICENSE`, 'muster/_calls.py', 'muster/py.typed'])
      expect(inWheel).to.include(name);
  });
});
