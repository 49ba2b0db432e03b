import { type EventDeclaration, events } from '../declare/event.ts';
import { number } from '../declare/field.ts';
import type { Limits } from '../room.ts';

/** A change of limits has the limits that changed in its payload. */
export function spaceEvents(limits: Limits): readonly EventDeclaration[] {
  const changed = Object.entries(limits).map(([name, { min, max }]) => [name, number(min, max).optional()]);
  return events({ 'limits.updated': Object.fromEntries(changed) });
}
