import { setTimeout as sleep } from 'node:timers/promises';
import { Caller } from './caller.ts';
import type { Lab } from './lab.ts';
import type { Maker } from './scenes/all.ts';
import { type Chance, chanceOf, seedOf } from './seed.ts';
import { type Circumstances, expectSound } from './verify.ts';
import { Workload } from './workload.ts';

/** How long a fault lasts, or recurs. */
const faultMs = 15_000;

/** Everything that can be packed. */
const packNow = { sealAfterMs: 0, isAll: true, patienceMs: 1_000 };

/** Runs `act` while finished history is packed at once, so that later reads meet mostly packed records. */
async function packing<T>(lab: Lab, act: () => Promise<T>): Promise<T> {
  const service = await lab.service();
  const { packing } = service;
  let isOver = false;
  const packAll = async (): Promise<void> => {
    for (const { org, spaceId } of lab.tenants) {
      // Small segments: more of them change while somebody reads.
      await packing.packMessages(org, spaceId, undefined, { ...packNow, size: 20 });
      await packing.packSpace(org, spaceId, undefined, packNow);
    }
  };
  const packer = (async () => {
    // A failed round is tried again.
    for (; !isOver; await sleep(200)) await packAll().catch(() => undefined);
  })();
  try {
    return await act();
  } finally {
    isOver = true;
    await packer;
    await service.stop();
  }
}

/** Runs `act` while the workload runs. Ends the workload's client whatever happens. */
export async function underLoad<T>(
  lab: Lab,
  title: string,
  act: (load: Workload, chance: Chance) => Promise<T>,
  check: (load: Workload, result: T) => Promise<void>,
  makers?: readonly Maker[],
): Promise<void> {
  const seed = seedOf(title);
  await lab.admit();
  const load = new Workload(new Caller(() => lab.urls()), lab.tenants, seed);
  try {
    load.start(undefined, makers);
    await check(load, await packing(lab, () => act(load, chanceOf(seed + 1))));
  } catch (error) {
    for (const { stderr } of [...lab.apis, ...(lab.worker ? [lab.worker] : [])]) console.error(stderr.slice(-3_000));
    throw error;
  } finally {
    load.caller.close();
  }
}

/** Like underLoad. Afterwards everything must be there, once and in order. */
export async function soundUnder(
  lab: Lab,
  title: string,
  act: (load: Workload, chance: Chance) => Promise<Circumstances>,
  makers?: readonly Maker[],
): Promise<void> {
  await underLoad(lab, title, act, (load, circumstances) => expectSound(lab, load, circumstances), makers);
}

/** Repeats `act` for as long as a fault lasts. Returns how often. */
export async function again(act: () => Promise<void>, ms = faultMs): Promise<number> {
  let times = 0;
  for (const end = performance.now() + ms; performance.now() < end; times++) await act();
  return times;
}
