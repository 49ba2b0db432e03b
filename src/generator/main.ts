import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { renderSite } from '../docs/render/site.ts';
import { openapi } from '../http/openapi.ts';
import { product } from '../primitives.ts';
import { clientTexts } from './calls.ts';
import { callsIn } from './found-calls.ts';
import { pythonTexts } from './python.ts';

/** The typed client's types and calls, from the document that the service publishes; a build step. */
const folder = fileURLToPath(new URL('../client/generated/', import.meta.url));
const document = openapi(product);
const texts = await clientTexts(document);
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(texts)) writeFileSync(`${folder}${name}.ts`, text);

// The build names a folder for the pages of /docs. The Python client's calls are committed, so that pip installs it from a
// checkout: the build leaves them as they are.
const { docs } = parseArgs({ options: { docs: { type: 'string' } } }).values;
if (docs === undefined) {
  const pythonFolder = fileURLToPath(new URL('../client/python/muster/', import.meta.url));
  for (const [name, text] of Object.entries(pythonTexts(document))) writeFileSync(`${pythonFolder}${name}.py`, text);
} else {
  for (const [path, text] of renderSite(callsIn(document))) {
    const file = path.replace('/docs', docs);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
