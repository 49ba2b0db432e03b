import { pascalCase } from '../declare/event.ts';
import { type JsonSchema, type NamedSchemas, schemaRef } from './schema.ts';

interface Media {
  schema: JsonSchema;
}

interface Content {
  readonly content?: Readonly<Record<string, Media>>;
}

interface Operation {
  readonly operationId: string;
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

/** The name of a call's answer: `MailboxList` for `mailbox.list`, `Waits` for `waits.get`. */
const nameOf = (call: string): string => pascalCase(call.replace(/\.get$/, ''));

/** Moves the schema to a named component. An equal schema may already have the name. */
function name(media: Media, called: string, named: NamedSchemas): void {
  const known = named.get(called);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(media.schema))
    throw new Error(`${called} is the name of this schema and of another`);
  named.set(called, media.schema);
  media.schema = schemaRef(called);
}

/** Names a call's body (`MessageSendBody`) and, unless a record has named it, its answer (`MessageList`). */
export function nameSchemas(operation: object, named: NamedSchemas): void {
  const { operationId, requestBody, responses } = operation as Operation;
  const body = requestBody?.content?.['application/json'];
  // All calls without fields share a body.
  if (body) name(body, body.schema['properties'] === undefined ? 'EmptyBody' : `${nameOf(operationId)}Body`, named);
  for (const [status, { content }] of Object.entries(responses)) {
    const answer = content?.['application/json'];
    if (answer && status < '300' && answer.schema['properties'] !== undefined) name(answer, nameOf(operationId), named);
  }
}
