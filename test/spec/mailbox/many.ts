import { randomUUID } from 'node:crypto';
import { background, maxChanges } from '../../../src/engine/redis/due.ts';
import { randomTail } from '../../../src/engine/route/args.ts';
import { many } from '../../support/long.ts';
import { World } from '../../support/world.ts';
import { callArgs } from '../allowance/script.ts';
import { Queue } from './queue.ts';

/** A mailbox whose backlogLimit exceeds the maximum, in a space with the largest limits. */
export async function wideQueue(): Promise<Queue> {
  const queue = await Queue.create({}, await World.create({ limits: { maxBacklog: 1_000_000 } }));
  const { world, id } = queue;
  await world.service.store.hset(`${world.prefix}:mailbox:${id}`, 'backlogLimit', '1000000');
  return queue;
}

/** Sends many messages in order by running the script directly, without HTTP, to each of these scopes in turn. */
export async function sendMany(
  { world, id, scopeId }: Queue,
  howMany: number,
  {
    scopeIds = [scopeId],
    delaySeconds = '',
    deadline = '',
    prerequisites = '',
    key = '',
    keys = () => key,
  }: {
    scopeIds?: readonly string[];
    delaySeconds?: string;
    deadline?: string;
    prerequisites?: string;
    key?: string;
    /** The key of each, by its number. */
    keys?: (n: number) => string;
  } = {},
): Promise<void> {
  const fields = {
    mailboxId: id,
    payload: '1',
    workKey: '',
    deadline,
    delaySeconds,
    maxAttempts: '',
    prerequisites,
  };
  // The rate class of held requests: there may be more sends than a minute allows.
  const args = { ...callArgs(world), callName: 'message.send', rateClass: 'held', ...fields };
  for (let sent = 0; sent < howMany; sent += 500) {
    const calls = Array.from({ length: Math.min(500, howMany - sent) }, (_, n) => {
      const scope = scopeIds[(sent + n) % scopeIds.length] ?? '';
      return world.service.scripts.execute('mailbox/send', world.org, {
        ...args,
        ...{ scopeId: scope, key: keys(sent + n), tail: randomTail() },
      });
    });
    await Promise.all(calls);
  }
}

/** One step of the workers: how many records it changed, and how long it blocked the store. */
export interface Step {
  readonly changed: number;
  readonly micros: number;
}

/**
 * Runs the background script step by step, at most `maxSteps` times, until nothing is left; `count` reads the number
 * that each step changes.
 */
export async function stepByStep(
  { service, org }: World,
  count: () => Promise<number>,
  maxSteps = Number.POSITIVE_INFINITY,
): Promise<Step[]> {
  const { scripts, store } = service;
  const steps: Step[] = [];
  let before = await count();
  for (let more = true; more && steps.length < maxSteps; ) {
    await store.config('RESETSTAT');
    more = (await scripts.ask(background, org, { requestId: '', spaceId: '', maxChanges, name: '' })).more;
    const micros = /cmdstat_fcall:calls=\d+,usec=(\d+)/.exec(await store.info('commandstats'))?.[1];
    const now = await count();
    steps.push({ changed: Math.abs(now - before), micros: Number(micros) });
    before = now;
  }
  return steps;
}

/** Prints how long the scripts took, in the long run only. */
export function printSteps(what: string, steps: readonly Step[]): void {
  const micros = steps.map((step) => step.micros).sort((one, other) => one - other);
  const ms = (share: number): string => ((micros[Math.ceil(micros.length * share) - 1] ?? 0) / 1000).toFixed(1);
  if (many(0, 1) === 1)
    console.log(
      `      ${what}: ${steps.length} steps; ms of the store: median ${ms(0.5)}, p99 ${ms(0.99)}, most ${ms(1)}`,
    );
}

export const uuids = (count: number): string[] => Array.from({ length: count }, () => randomUUID());
