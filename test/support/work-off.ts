import { background, maxChanges } from '../../src/engine/redis/due.ts';
import type { World } from './world.ts';

/** Fires all background timers that are due. A drain of them stops after a second, done or not. */
export async function workOff({ service, org }: Pick<World, 'service' | 'org'>): Promise<void> {
  const args = { requestId: '', spaceId: '', maxChanges, name: '' };
  while ((await service.scripts.ask(background, org, args)).more);
  // Background timers may have armed others that calls wait for.
  await service.due.drain(org);
}
