import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folder, type ReleaseDirs, run } from './release-dirs.ts';

const linesOf = (path: string): string[] => readFileSync(path, 'utf8').replaceAll('\\\n', '').split('\n');

/**
 * Packs the files that the image is built from: the checkout's files that git tracks and .dockerignore allows, and
 * docker-compose.yml, so that `docker compose up --build` works where it is unpacked.
 */
export function imageContext({ root, out }: ReleaseDirs, version: string, timestamp: string): string {
  const kept = linesOf(join(root, '.dockerignore')).filter((line) => line.startsWith('!'));
  const paths = ['Dockerfile', '.dockerignore', 'docker-compose.yml', ...kept.map((line) => line.slice(1))];
  const files = run(root, 'git', ['ls-files', '--', ...paths])
    .trim()
    .split('\n');
  const name = `muster-image-${version}`;
  const file = join(out, `${name}.tar.gz`);
  const same = [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=go+rX,go-w',
    `--mtime=${timestamp}`,
  ];
  run(root, 'tar', ['-I', 'gzip -n', '-cf', file, ...same, '--transform', `s,^,${name}/,`, ...files]);
  return file;
}

/** Runs a shell line of the Dockerfile in a folder. */
export const runLine = (home: string, line: string): void => {
  run(home, 'sh', ['-c', line]);
};

/**
 * Follows the Dockerfile in a folder, without Docker: copies files, and runs the npm lines, which stay below its
 * WORKDIR. Returns the folder of the last stage.
 */
export function followDockerfile(context: string, scratch: string, runs = runLine): string {
  const stages = new Map<string, string>();
  let home = '';
  for (const line of linesOf(join(context, 'Dockerfile'))) {
    const [instruction, ...words] = line.split(/\s+/);
    if (instruction === 'FROM') {
      const name = words[2] ?? 'last';
      home = folder(scratch, 'image', name);
      stages.set(name, home);
    } else if (instruction === 'COPY') {
      const from = words[0]?.startsWith('--from=') ? stages.get(words.shift()?.slice('--from='.length) ?? '') : context;
      const to = words.pop() ?? '';
      for (const word of words) {
        const source = join(from ?? '', word.replace(/^\/muster\//, ''));
        const target =
          words.length > 1 || to.endsWith('/') ? join(home, to, word.split('/').at(-1) ?? '') : join(home, to);
        cpSync(source, target, { recursive: true });
      }
    } else if (instruction === 'RUN' && words[0] === 'npm') runs(home, words.join(' '));
  }
  return home;
}

/** The files that differ between two folders, or are missing from one of them. */
export function differing(one: string, other: string): string[] {
  const files = (path: string) =>
    readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const names = new Set(
    [one, other].flatMap((path) =>
      files(path).map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1)),
    ),
  );
  const read = (path: string): string | undefined => {
    try {
      return readFileSync(path, 'latin1');
    } catch {
      return undefined;
    }
  };
  return [...names].filter((name) => read(join(one, name)) !== read(join(other, name)));
}
