import { readFile } from 'node:fs/promises';
import { expect } from 'chai';

interface Locked {
  readonly name?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
  readonly engines?: { readonly node?: string };
}

const read = async (name: string): Promise<string> => readFile(new URL(`../../${name}`, import.meta.url), 'utf8');

describe('what is installed', () => {
  let locked: [path: string, entry: Locked][];
  let workspaces: readonly string[];
  before(async () => {
    workspaces = JSON.parse(await read('package.json')).workspaces ?? [];
    const { packages } = JSON.parse(await read('package-lock.json')) as { packages: Record<string, Locked> };
    const workspaceNames = new Set(workspaces.map((folder) => packages[folder]?.name));
    // The project's own folders, and links to them, have no origin.
    const isOwn = ([path, { link }]: [string, Locked]) =>
      !path.startsWith('node_modules/') || (link === true && workspaceNames.has(path.slice('node_modules/'.length)));
    locked = Object.entries(packages).filter((entry) => !isOwn(entry));
  });

  it('is locked: every package with its SHA-512, all from the npm registry', () => {
    expect(locked.length).to.be.above(100);
    for (const [name, { integrity, resolved, link }] of locked) {
      expect(integrity, name).to.match(/^sha512-[A-Za-z0-9+/]{86}==$/);
      expect(resolved ?? 'https://registry.npmjs.org/', name).to.match(/^https:\/\/registry\.npmjs\.org\//);
      expect(link, name).to.equal(undefined);
    }
  });

  it('is pinned by version: no tag, address, folder or range without an upper bound', async () => {
    for (const folder of ['', ...workspaces.map((workspace) => `${workspace}/`)]) {
      const { dependencies, devDependencies } = JSON.parse(await read(`${folder}package.json`));
      for (const [name, range] of Object.entries({ ...dependencies, ...devDependencies }))
        expect(range, name).to.match(/^\^?\d+\.\d+\.\d+$/);
    }
  });

  it('warns of no Node that is too old: of what asks for a newer one, only the bundle for browsers is used', () => {
    const newer = locked.filter(([, { engines }]) => /^>= ?2[1-9]/.test(engines?.node ?? '')).map(([name]) => name);
    expect(newer, 'take its `engines` out of package-lock.json if no part of it runs in Node').to.deep.equal([]);
  });

  it('runs no install scripts, except two that choose a binary and work without it', () => {
    const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([name]) => name);
    expect(scripted.sort()).to.deep.equal(['node_modules/esbuild', 'node_modules/msgpackr-extract']);
  });

  it('has container images pinned to full versions', async () => {
    const texts = await Promise.all(['Dockerfile', 'docker-compose.yml'].map(read));
    const images = [...texts.join('\n').matchAll(/^(?:FROM|\s*image:)\s+(\S+)/gm)].map(([, image = '']) => image);
    expect(images).to.have.length.above(5);
    for (const image of images.filter((name) => name !== 'muster'))
      expect(image).to.match(/^[a-z0-9./-]+:v?\d+\.\d+\.\d+(-[a-z0-9.-]+)?(@sha256:[0-9a-f]{64})?$/);
  });
});
