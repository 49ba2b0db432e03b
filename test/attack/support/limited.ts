import { isUuid } from '../../../src/engine/route/fields.ts';
import { pathNames, type Route } from '../../../src/engine/route/route.ts';
import type { World } from '../../support/world.ts';
import { type Objects, requestOf } from './objects.ts';

/** Fields that lead to a mailbox, by its id or through a record. */
const leading = ['mailboxId', 'messageId', 'groupId', 'taskId', 'scheduleId', 'bulkId'];

function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...namesIn(member)]);
}

const fieldsOf = (route: Route, objects: Objects): string[] =>
  namesIn(JSON.parse(requestOf(route, objects).body ?? '{}'));

/**
 * Whether the call refuses a key that is limited to unrelated mailboxes: it needs all mailboxes (without a query, a
 * call does so wherever it may), or it leads to another one.
 */
export function isOfMailboxes(route: Route, objects: Objects): boolean {
  const names = [...pathNames(route), ...fieldsOf(route, objects)];
  return Boolean(route.needsAllMailboxes) || names.some((name) => leading.includes(name));
}

/** Whether the call refuses a key that is bound to an unrelated holder: the call names a holder. */
export const namesHolder = (route: Route, objects: Objects): boolean =>
  fieldsOf(route, objects).some((name) => ['holder', 'answeredBy'].includes(name));

/** The ids of all mailboxes of a space. */
export async function mailboxesOf(world: World): Promise<string[]> {
  const { body } = await world.get('/mailboxes?limit=200');
  const ids = body.mailboxes.map(({ id }: { id: string }) => id);
  if (!ids.every(isUuid) || body.nextCursor !== null) throw new Error('more mailboxes than a page has');
  return ids;
}
