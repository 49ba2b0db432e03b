import { execFileSync } from 'node:child_process';
import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Builds another version of the product into a folder: with one more room, and one more field in every message, which its
 * scripts write and ours do not know.
 */
export async function buildOther(folder: string): Promise<void> {
  for (const name of await readdir(root))
    if (!/^(\.|test$|dist$|node_modules$)/.test(name))
      await cp(join(root, name), join(folder, name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await cp(join(root, 'test/extension/lua'), join(folder, 'lua/lock'), { recursive: true });
  const room = await readFile(join(root, 'test/extension/lock.ts'), 'utf8');
  await writeFile(
    join(folder, 'src/primitives/lock.ts'),
    replaced(
      room.replaceAll("'../../src/primitives/", "'./").replaceAll("'../../src/", "'../"),
      "lua: fileURLToPath(new URL('lua/', import.meta.url)),",
      '',
    ),
  );
  await edit(folder, 'src/primitives/primitives.ts', [
    ['import { allowanceRoom }', "import { lockRoom } from './lock.ts';\nimport { allowanceRoom }"],
    ['  eventRoom,\n', '  eventRoom,\n  lockRoom,\n'],
  ]);
  await edit(folder, 'src/primitives/mailbox/records.ts', [
    ["    workKey: text().orNull().example('order-4711'),\n", '$&    madeBy: text().orNull().internal(),\n'],
  ]);
  await edit(folder, 'lua/mailbox/_send.lua', [
    ['  message.insert(record)\n', "  record.madeBy = 'another build'\n  message.insert(record)\n"],
  ]);
  execFileSync(process.execPath, ['src/tools/build/build.mjs'], { cwd: folder, stdio: 'pipe' });
}

async function edit(folder: string, path: string, changes: readonly (readonly [string, string])[]): Promise<void> {
  const text = await readFile(join(folder, path), 'utf8');
  await writeFile(
    join(folder, path),
    changes.reduce((all, [from, to]) => replaced(all, from, to), text),
  );
}

/** Throws if there is nothing to replace: the other build would be the same. */
function replaced(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`the other build finds no ${JSON.stringify(from)}`);
  return text.replace(from, to);
}
