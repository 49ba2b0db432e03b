import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { atExit } from '../../src/program/at-exit.ts';

/** Built files, which git does not know. */
const linked = [
  ...['src/client/generated', 'src/client/dist', 'src/generator/node_modules', 'dist'],
  ...['.redis', '.curl', '.python', '.chromium'],
];

/** A copy of the project as it is now, in which mutants are planted while the original may be edited. Removed at exit. */
export function copyOf(root: string): string {
  const tree = fs.mkdtempSync(join(tmpdir(), 'muster-mutants-'));
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
    if (fs.existsSync(join(root, file)) && file !== '') fs.copyFileSync(join(root, file), into(file));
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
  fs.appendFileSync(join(tree, 'src/redis/library.ts'), '\nexport { known };\n');
  return tree;
}
