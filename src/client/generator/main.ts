import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openapi } from '../../http/openapi.ts';
import { product } from '../../primitives.ts';
import { clientTexts } from './calls.ts';

/** A build step: the typed client's types and calls, from the document that the service publishes. */
const folder = fileURLToPath(new URL('../generated/', import.meta.url));
const texts = await clientTexts(openapi(product));
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(texts)) writeFileSync(`${folder}${name}.ts`, text);
