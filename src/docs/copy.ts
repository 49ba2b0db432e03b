import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { libraryFolder } from './site.ts';

/** A build step: the library is copied into dist, so that what is installed to run needs neither it nor its packages. */
const from = dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));

mkdirSync(libraryFolder, { recursive: true });
for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css', 'LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'])
  cpSync(join(from, name), join(libraryFolder, name));
