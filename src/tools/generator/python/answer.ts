import { type Call, type Document, resolved } from '../document.ts';
import type { Records } from './records.ts';
import { capital, capitalized, union } from './words.ts';

/** The class name for an answer that has none. */
function answerName(operationId: string): string {
  const [room = '', call = ''] = operationId.split('.');
  return call === 'get' ? capital(room) : capitalized(operationId);
}

/** The answer of a call: its type, the classes that read it and, for a page, its list. */
export interface PythonAnswer {
  readonly type: string;
  readonly record: string;
  /** The type of the list if the call answers a list when `max` is given. */
  readonly many?: string;
  readonly page?: { readonly json: string; readonly type: string };
}

export function answerOf({ operation }: Call, records: Records, document: Document): PythonAnswer {
  const { responses, operationId } = operation;
  const success = Object.entries(responses).filter(([status]) => status < '300');
  const schema = success.map(([, one]) => one.content?.['application/json']?.schema).find((one) => one !== undefined);
  const isSometimesNone = success.some(([status]) => status === '204');
  if (schema === undefined) return { type: 'None', record: 'None' };
  const name = answerName(operationId);
  const [one, list] = schema.anyOf ?? [];
  if (one && list) {
    const [single, many] = [records.typeOf(one, name), records.typeOf(list, `${name}Many`)];
    return { type: union([single, 'None']), record: single, many };
  }
  const record = records.typeOf(schema, name);
  const { properties = {} } = resolved(schema, document);
  const [plural, items] = Object.entries(properties).find(([, field]) => field.type === 'array') ?? [];
  const cursor = properties['nextCursor'];
  const page =
    operationId.endsWith('.list') && cursor && plural && items?.items
      ? { json: plural, type: records.typeOf(items.items, name) }
      : undefined;
  return { type: union([record, ...(isSometimesNone ? ['None'] : [])]), record, ...(page && { page }) };
}
