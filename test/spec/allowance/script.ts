import { hash, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { maxChanges } from '../../../src/engine/redis/due.ts';
import { randomTail } from '../../../src/engine/route/args.ts';
import { isLong, many as manyOf } from '../../support/long.ts';
import type { Pace } from '../../support/pace.ts';
import { World } from '../../support/world.ts';

/** The arguments that every script call takes, as the HTTP side passes them. */
export function callArgs(world: World) {
  return {
    apiKeyDigest: hash('sha256', world.apiKey, 'base64url'),
    permission: 'coordination_write',
    spaceId: world.spaceId,
    rateClass: 'ordinary',
    callName: 'test',
    idempotencyDigest: '',
    fingerprint: '',
    requestId: '',
    sweptThrough: '',
    openedMessages: '',
  };
}

/** Queues many waiters by running the script directly, without HTTP, to measure what a full queue costs. */
export async function queueMany(
  world: World,
  allowanceId: string,
  howMany: number,
  ttlSeconds: number,
  { scopes = Array.from({ length: 10 }, (): string => randomUUID()), units = 1 } = {},
): Promise<void> {
  const args = { ...callArgs(world), allowanceId, units, ttlSeconds };
  for (let done = 0; done < howMany; done += 500) {
    await Promise.all(
      Array.from({ length: Math.min(500, howMany - done) }, (_, i) => {
        const fields = { scopeId: scopes[i % scopes.length] ?? '', holder: `agent-${done + i}`, tail: randomTail() };
        return world.service.scripts.execute('allowance/wait', world.org, { ...args, ...fields });
      }),
    );
  }
}

/** One sweep script: its changes, the events and commands it made, and how long it blocked the store. */
export interface Step {
  readonly changes: number;
  readonly events: number;
  readonly commands: number;
  readonly micros: number;
}

/** Sweeps until nothing is due, in the service's steps, and measures each step by the store's own counters. */
export async function sweepMeasured(world: World): Promise<Step[]> {
  const { scripts, store } = world.service;
  const journal = `${world.prefix}:events`;
  const steps: Step[] = [];
  let events = await store.xlen(journal);
  for (let more: unknown = 1; more === 1; ) {
    await store.call('CONFIG', 'RESETSTAT');
    const reply = await scripts.execute('timer/sweep', world.org, { spaceId: '', requestId: '', maxChanges });
    const stats = new Map(
      [...(await store.info('commandstats')).matchAll(/cmdstat_(\S+):calls=(\d+),usec=(\d+)/g)].map((line) => [
        line[1],
        line,
      ]),
    );
    const sweep = stats.get('fcall') ?? stats.get('evalsha');
    stats.delete('config|resetstat');
    const commands = [...stats.values()].reduce((sum, [, , calls]) => sum + Number(calls), 0);
    const length = await store.xlen(journal);
    steps.push({ changes: Number(reply[3]), events: length - events, commands, micros: Number(sweep?.[3]) });
    events = length;
    more = reply[2];
  }
  return steps;
}

/** Ten steps, or a hundred. */
export const many = manyOf(1_000, 10_000);

/**
 * Changes and commands are counted exactly, and alike in all scripts. Times are noisy, as other load lengthens them: only
 * the long tests look at them. There half of the steps within the bound, scaled to the machine's pace, show that the work
 * itself is bounded.
 */
export async function expectBounded(steps: readonly Step[], pace: Pace): Promise<void> {
  for (const { changes, events, commands } of steps) {
    expect(changes).to.be.at.most(100);
    expect(events).to.be.at.most(100);
    expect(commands).to.be.at.most(500);
  }
  if (!isLong) return;
  const micros = steps.map((step) => step.micros).sort((one, other) => one - other);
  const median = micros[Math.floor(micros.length / 2)] ?? 0;
  expect(median).to.be.at.least(1);
  await pace.expect(median / 1000, 5);
}

/** A world with an allowance whose window is used up and that has many waiters. */
export async function fullQueue(ttlSeconds: number) {
  const world = await World.create({ limits: { maxPendingWaiters: many } });
  const start = Math.ceil(Date.now() / 60_000) * 60_000;
  await world.at(start);
  const { id } = await world.mustPost('/allowances', { name: 'calls', unitsLimit: many, windowSeconds: 60 });
  await world.mustPost(`/allowances/${id}/consume`, { scopeId: randomUUID(), units: many, holder: 'first' });
  await queueMany(world, id, many, ttlSeconds);
  return { world, start, path: `/allowances/${id}` };
}
