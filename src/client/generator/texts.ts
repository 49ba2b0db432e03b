import openapiTypes, { astToString } from 'openapi-typescript';
import { callsText, type Document, forTypes } from './calls.ts';

const head = '// Made from the OpenAPI document by `npm run generate`.\n\n';
// A field with a default may be left out.
const options = { defaultNonNullable: false };

/** The typed client's modules of an OpenAPI document: the calls, and the types of what they take and answer. */
export async function clientTexts(openapi: object): Promise<{ calls: string; openapi: string }> {
  const document = JSON.parse(JSON.stringify(openapi)) as Document;
  const types = await openapiTypes(JSON.stringify(forTypes(document)), options);
  return { calls: head + callsText(document), openapi: head + astToString(types) };
}
