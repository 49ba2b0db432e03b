import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder, type ReleaseDirs, run } from './release-dirs.ts';

interface Packed {
  /** Its path in the release. */
  readonly file: string;
  /** Where it is unpacked. */
  readonly home: string;
}

const pack = (cwd: string, ...words: string[]): string =>
  JSON.parse(run(cwd, 'npm', ['pack', '--json', '--ignore-scripts', ...words]))[0].filename;

/** Packs a package for npm, without the parts of its manifest that only a checkout needs. */
export function npmPackage({ out, scratch }: ReleaseDirs, name: string, cwd: string): Packed {
  const home = folder(scratch, 'packed', name);
  const draft = pack(cwd, '--pack-destination', scratch);
  run(scratch, 'tar', ['xzf', draft, '--strip-components=1', '-C', home]);
  const path = join(home, 'package.json');
  const {
    private: _,
    scripts,
    workspaces,
    devDependencies,
    overrides,
    ...manifest
  } = JSON.parse(readFileSync(path, 'utf8'));
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env;
  // npm compares it with the provenance.
  if (repository) manifest.repository = { type: 'git', url: `git+${server}/${repository}.git` };
  writeFileSync(path, `${JSON.stringify(manifest, undefined, 2)}\n`);
  return { file: join(out, pack(home, '--pack-destination', out)), home };
}

/** Builds wheel and sdist, with nothing but the standard library. */
export function pythonPackages({ root, out, scratch, python }: ReleaseDirs): {
  readonly wheel: string;
  readonly sdist: string;
} {
  const source = folder(scratch, 'python');
  cpSync(join(root, 'src/clients/python'), source, { recursive: true });
  const build = 'import sys, build_wheel as b; print(b.build_wheel(sys.argv[1])); print(b.build_sdist(sys.argv[1]))';
  const [wheel = '', sdist = ''] = run(source, python.command, ['-c', build, out], {
    ...python.env,
    PYTHONDONTWRITEBYTECODE: '1',
  }).split('\n');
  return { wheel: join(out, wheel), sdist: join(out, sdist) };
}
