// Makes what a tag publishes, in release/: packages of the server and the client for npm, wheel and sdist for Python,
// the files of the image, bills of materials, the changelog's section, and the checksums of all. Each is then installed
// into an empty folder and used from there. Publishes nothing: `npm run release` tries the checkout as it is; `npm run
// release -- v1.2.3` also requires that version everywhere.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tryClient, tryImage, tryPython, tryServer } from './install-checks.ts';
import { make } from './make.ts';
import { inReleaseDirs } from './release-dirs.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const python = { command: process.env['PYTHON'] ?? 'python3', env: process.env };
const [tag] = process.argv.slice(2);

try {
  await inReleaseDirs(root, join(root, 'release'), python, async (dirs) => {
    const { version, server, client, wheel, sdist, image, sums } = make(dirs, tag);
    await tryServer(dirs, server, version, (exports) => {
      tryClient(dirs, client, exports);
      tryPython(dirs, 'wheel', wheel, exports);
      tryPython(dirs, 'sdist', sdist, exports);
    });
    await tryImage(dirs, image, version);
    console.log(`${tag ?? `a dry run of v${version}`} publishes, from release/:\n${sums.trimEnd()}`);
  });
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
