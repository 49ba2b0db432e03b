import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { draftOf } from '../../engine/library/loader.ts';
import { openapi } from '../../engine/openapi/openapi.ts';
import { renderSite } from '../../pages/docs/render/site.ts';
import { product } from '../../primitives/primitives.ts';
import { clientTexts } from './calls.ts';
import { callsIn } from './found-calls.ts';
import { pythonTexts } from './python/modules.ts';

/** Generates the clients' calls and types from the published document, as a build step. */
const clients = fileURLToPath(new URL('../../clients/', import.meta.url));
const document = openapi(product);

/** Writes a file unless it is unchanged, as a program may be reading it. */
function write(file: string, text: string | Buffer): void {
  if (existsSync(file) && readFileSync(file).equals(Buffer.from(text))) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

for (const [name, text] of Object.entries(await clientTexts(document)))
  write(join(clients, `typescript/generated/${name}.ts`), text);
for (const [name, text] of Object.entries(pythonTexts(document)))
  write(join(clients, `python/muster/${name}.py`), text);

// The build passes its folder, for the pages of /docs and the draft of the Lua library.
const { build } = parseArgs({ options: { build: { type: 'string' } } }).values;
if (build !== undefined) {
  for (const [path, text] of renderSite(callsIn(document)))
    write(path.replace('/docs', join(build, 'docs/site')), text);
  const { text, ...rest } = draftOf(product.words);
  write(join(build, 'chunks/library/library.lua'), text);
  write(join(build, 'chunks/library/library.json'), JSON.stringify(rest));
}
