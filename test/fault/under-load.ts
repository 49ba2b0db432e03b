import type { Lab } from './lab.ts';
import { type Chance, chanceOf, seedOf } from './seed.ts';
import { type Circumstances, expectSound } from './verify.ts';
import { Workload } from './workload.ts';

/** How long a fault goes on, or comes again. */
const faultMs = 15_000;

/** Runs `act` while the workload runs, and leaves nothing of it behind, whatever happens. */
export async function underLoad<T>(
  lab: Lab,
  title: string,
  act: (load: Workload, chance: Chance) => Promise<T>,
  check: (load: Workload, result: T) => Promise<void>,
): Promise<void> {
  const seed = seedOf(title);
  await lab.admit();
  const load = new Workload(() => lab.urls(), lab.tenants, seed);
  try {
    load.start();
    await check(load, await act(load, chanceOf(seed + 1)));
  } catch (error) {
    for (const { stderr } of [...lab.apis, ...(lab.worker ? [lab.worker] : [])]) console.error(stderr.slice(-3_000));
    throw error;
  } finally {
    load.caller.close();
  }
}

/** As above, and then everything must be there, once, and in order. */
export async function soundUnder(
  lab: Lab,
  title: string,
  act: (load: Workload, chance: Chance) => Promise<Circumstances>,
): Promise<void> {
  await underLoad(lab, title, act, (load, circumstances) => expectSound(lab, load, circumstances));
}

/** Does it again and again for as long as a fault goes on. Answers how often. */
export async function again(act: () => Promise<void>, ms = faultMs): Promise<number> {
  let times = 0;
  for (const end = performance.now() + ms; performance.now() < end; times++) await act();
  return times;
}
