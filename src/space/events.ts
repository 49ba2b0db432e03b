import { type EventDeclaration, events } from '../declare/event.ts';
import type { Limits } from '../room.ts';
import { limitField } from './limits.ts';

/** A change of limits has the limits that changed in its payload. */
export function spaceEvents(limits: Limits): readonly EventDeclaration[] {
  const changed = Object.entries(limits).map(([name, limit]) => [name, limitField(limit).optional()]);
  return events({ 'limits.updated': Object.fromEntries(changed) });
}
