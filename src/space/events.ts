import { type EventDeclaration, events } from '../declare/event.ts';
import { number } from '../declare/field.ts';
import type { Limits } from '../room.ts';

/** What a change of limits tells of: those that have changed. */
export function spaceEvents(limits: Limits): readonly EventDeclaration[] {
  const changed = Object.entries(limits).map(([name, { min, max }]) => [name, number(min, max).optional()]);
  return events({ 'limits.updated': Object.fromEntries(changed) });
}
