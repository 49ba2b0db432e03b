import { type JsonSchema, type NamedSchemas, schemaRef } from './schema.ts';

interface Operation {
  readonly operationId: string;
  readonly responses: Record<string, { readonly content?: Record<string, { schema: JsonSchema }> }>;
}

/** `MailboxList` of `mailbox.list`, `Waits` of `waits.get`. */
const nameOf = (call: string): string =>
  call
    .replace(/\.get$/, '')
    .split('.')
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');

/** Names the answers of a call that no record has named. */
export function nameAnswers(operation: object, named: NamedSchemas): void {
  const { operationId, responses } = operation as Operation;
  for (const [status, { content }] of Object.entries(responses)) {
    const media = content?.['application/json'];
    if (!media || status >= '300' || media.schema['properties'] === undefined) continue;
    const name = nameOf(operationId);
    if (named.has(name)) throw new Error(`${name} is the name of an answer and of something else`);
    named.set(name, media.schema);
    media.schema = schemaRef(name);
  }
}
