import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openapi } from '../http/openapi.ts';
import { product } from '../primitives.ts';
import { clientTexts } from './calls.ts';
import { pythonTexts } from './python.ts';

/** The typed client's types and calls, from the document that the service publishes; a build step. */
const folder = fileURLToPath(new URL('../client/generated/', import.meta.url));
const document = openapi(product);
const texts = await clientTexts(document);
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(texts)) writeFileSync(`${folder}${name}.ts`, text);

// The Python client's are committed, so that pip installs it from a checkout: the build leaves them as they are.
const pythonFolder = fileURLToPath(new URL('../client/python/muster/', import.meta.url));
if (!process.argv.includes('--typescript'))
  for (const [name, text] of Object.entries(pythonTexts(document))) writeFileSync(`${pythonFolder}${name}.py`, text);
