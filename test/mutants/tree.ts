import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { atExit } from '../../src/external-programs/at-exit.ts';
import { hashOf } from './mutant.ts';

/** Built files, which git does not know. */
const linked = [
  ...['src/clients/typescript/generated', 'src/clients/typescript/dist', 'src/tools/generator/node_modules', 'dist'],
  ...['.redis', '.curl', '.python', '.chromium'],
];

/** A new folder that no running process has. Mostly the same one, as tsx keeps what it compiles by its path. */
function place(base: string): string {
  for (let nth = 1; ; nth++) {
    const folder = `${base}-${nth}`;
    const owner = join(folder, 'pid');
    if (fs.existsSync(folder) && (!fs.existsSync(owner) || runs(Number(fs.readFileSync(owner, 'utf8'))))) continue;
    fs.rmSync(folder, { recursive: true, force: true });
    try {
      fs.mkdirSync(folder);
    } catch {
      // Another run, which began at the same moment, was faster.
      continue;
    }
    fs.writeFileSync(owner, String(process.pid));
    return folder;
  }
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * A copy of the project as it is now, in which mutants are planted while the original may be edited. Removed at exit.
 * which: the files it needs.
 */
export function copyOf(root: string, which = /./): string {
  const tree = place(join(tmpdir(), `muster-mutants-${hashOf(root)}`));
  atExit(() => fs.rmSync(tree, { recursive: true, force: true }));
  const folders = new Set<string>();
  const into = (path: string): string => {
    const folder = dirname(join(tree, path));
    if (!folders.has(folder)) fs.mkdirSync(folder, { recursive: true });
    folders.add(folder);
    return join(tree, path);
  };
  const files = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  for (const file of execFileSync('git', files, { cwd: root }).toString().split('\0'))
    if (which.test(file) && fs.existsSync(join(root, file))) fs.copyFileSync(join(root, file), into(file));
  // The packages of this project must be those of the copy; its links are relative.
  const packages = (folder: string): void => {
    for (const entry of fs.readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && entry.name.startsWith('@')) packages(path);
      else fs.symlinkSync(entry.isSymbolicLink() ? fs.readlinkSync(join(root, path)) : join(root, path), into(path));
    }
  };
  packages('node_modules');
  for (const path of linked) if (fs.existsSync(join(root, path))) fs.symlinkSync(join(root, path), into(path));
  // The worker exchanges the libraries that this module keeps.
  fs.appendFileSync(join(tree, 'src/engine/library/library.ts'), '\nexport { known };\n');
  return tree;
}
