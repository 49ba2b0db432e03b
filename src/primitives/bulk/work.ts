import { setTimeout as sleep } from 'node:timers/promises';
import { flag } from '../../engine/declare/field.ts';
import type { DoTask } from '../../engine/redis/due.ts';
import { type Args, callArgs } from '../../engine/route/args.ts';

/** How long bulk work goes on without a break, so that other background work of its organization gets its turn. */
const turnMs = 1_000;
/** When another worker goes on if this one has died. */
const takeOverMs = 10_000;

export const bulkStep = { script: 'bulk/step', reply: { goesOn: flag() } };

/**
 * Carries out bulk work, for which a background timer asks (lua/bulk/_hooks.lua). Each step is one script, which continues where
 * the one before it ended, so any process may make it and a crash loses nothing. step: makes one, and resolves with whether
 * there is more to do now.
 */
export function bulkWork(step: (org: string, args: Args) => Promise<boolean>): DoTask {
  return async (org, [spaceId = '', bulkId = '', requestId = '']) => {
    const end = performance.now() + turnMs;
    const args = { ...callArgs, callName: 'bulk.step', spaceId, bulkId, requestId };
    for (let isLast = false; !isLast; ) {
      const begin = performance.now();
      isLast = begin >= end;
      if (!(await step(org, { ...args, pauseMs: isLast ? 0 : takeOverMs }))) return;
      // Leaves half of the store's time to others.
      await sleep(performance.now() - begin);
    }
  };
}
