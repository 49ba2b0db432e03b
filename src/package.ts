import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder with package.json, lua/ and dist/, the same for src/ and for a bundle in dist/. */
function rootOf(module: string): URL {
  let folder = new URL('.', module);
  while (!existsSync(new URL('package.json', folder))) folder = new URL('..', folder);
  return folder;
}

const root = rootOf(import.meta.url);

export const packagePath = (path: string): string => fileURLToPath(new URL(path, root));

export const { version } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8')) as {
  readonly version: string;
};

/** How the command `muster` is invoked in this process's environment. Operators paste examples from its output. */
export const invocation = ['start', 'muster'].includes(process.env['npm_lifecycle_event'] ?? '')
  ? 'npm run -s muster --'
  : 'muster';
