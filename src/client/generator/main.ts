import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTypes, { astToString } from 'openapi-typescript';
import { openapi } from '../../http/openapi.ts';
import { product } from '../../primitives.ts';
import { callsText, type Document, forTypes } from './calls.ts';

/** A build step: the typed client's types and calls, from the document that the service publishes. */
const folder = fileURLToPath(new URL('../generated/', import.meta.url));
const head = '// Made from the OpenAPI document by `npm run generate`.\n\n';
// A field with a default may be left out.
const options = { defaultNonNullable: false };
const document = JSON.parse(JSON.stringify(openapi(product))) as Document;

mkdirSync(folder, { recursive: true });
writeFileSync(`${folder}calls.ts`, head + callsText(document));
writeFileSync(
  `${folder}openapi.ts`,
  head + astToString(await openapiTypes(JSON.stringify(forTypes(document)), options)),
);
