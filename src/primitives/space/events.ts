import { type EventDeclaration, events } from '../../engine/declare/event.ts';
import type { Limits } from '../room.ts';
import { limitField } from './limits.ts';

/** The payload of a change of limits has the limits that changed. */
export function spaceEvents(limits: Limits): readonly EventDeclaration[] {
  const changed = Object.entries(limits).map(([name, limit]) => [name, limitField(limit).optional()]);
  return events({ 'limits.updated': Object.fromEntries(changed) });
}
