import { expect } from 'chai';
import { openapi } from '../../src/engine/openapi/openapi.ts';
import { version } from '../../src/package.ts';
import { product } from '../../src/primitives/primitives.ts';
import { notesOf, versionOf, versionsIn } from '../../src/tools/release/version.ts';
import { root } from '../support/release.ts';

// `npm run test:release` makes the files of a release and looks into them.
describe('A release', () => {
  it('has one version, and an error names the first file with another one', () => {
    const versions = versionsIn(root);
    expect(versions.filter(([, named]) => named !== version)).to.deep.equal([]);
    expect(versions.map(([path]) => path)).to.include.members([
      'package-lock.json',
      'src/clients/typescript/package.json',
      'src/clients/python/pyproject.toml',
      'docs/plugins/claude-code/.claude-plugin/plugin.json',
      'README.md',
      'docs/python.md',
      'docs/typescript.md',
      'docs/operate/systemd.md',
      'docs/deploy/muster.service',
      'docs/deploy/kubernetes.yaml',
      'docs/deploy/chart/Chart.yaml',
    ]);
    expect((openapi(product) as { info: { version: string } }).info.version).to.equal(version);
    expect(versionOf(root, `v${version}`)).to.equal(version);
    expect(() => versionOf(root, 'v9.9.9')).to.throw(`package.json has version ${version}, not 9.9.9`);
    expect(() => notesOf(root, '9.9.9')).to.throw('CHANGELOG.md has no section "## [9.9.9] - <date>" with a text');
    expect(notesOf(root, version)).to.match(/^The first release|### /m);
  });
});
