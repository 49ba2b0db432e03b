import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { renderSite } from '../docs/render/site.ts';
import { openapi } from '../openapi/openapi.ts';
import { product } from '../primitives.ts';
import { draftOf } from '../redis/loader.ts';
import { clientTexts } from './calls.ts';
import { callsIn } from './found-calls.ts';
import { pythonTexts } from './python.ts';

/** The typed client's types and calls, from the document that the service publishes; a build step. */
const folder = fileURLToPath(new URL('../client/generated/', import.meta.url));
const document = openapi(product);
const texts = await clientTexts(document);
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(texts)) writeFileSync(`${folder}${name}.ts`, text);

// The build names its folder, for the pages of /docs and the draft of the Lua library. The Python client's calls are
// committed, so that pip installs it from a checkout: the build leaves them as they are.
const { build } = parseArgs({ options: { build: { type: 'string' } } }).values;
if (build === undefined) {
  const pythonFolder = fileURLToPath(new URL('../client/python/muster/', import.meta.url));
  for (const [name, text] of Object.entries(pythonTexts(document))) writeFileSync(`${pythonFolder}${name}.py`, text);
} else {
  const write = (file: string, text: string | Buffer) => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  for (const [path, text] of renderSite(callsIn(document)))
    write(path.replace('/docs', join(build, 'docs/site')), text);
  const { text, ...rest } = draftOf(product.words);
  write(join(build, 'chunks/library/library.lua'), text);
  write(join(build, 'chunks/library/library.json'), JSON.stringify(rest));
}
