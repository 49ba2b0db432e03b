import { cpuMicros, familyCpuMicros } from '../cpu.ts';
import { ROWS, type Row } from './rows.ts';
import type { Runner, Settings } from './runners.ts';
import type { Store } from './stores/store.ts';

/** The result of one round; times are per message. */
export interface Sample {
  perSecond: number;
  storeMicros: number;
  clientMicros: number;
}

/** A row of the table with its measurements. */
export interface Contender {
  name: string;
  row: Row;
  durability: string;
  samples: Sample[];
  /** Why samples are missing. */
  failure?: string;
}

interface Running {
  store: Store;
  runner: Runner;
}

const running = new Map<Contender, Running>();
/** The status of a receive that finds nothing ready. Any other answer outside 2xx makes a sample worthless. */
const NOTHING_READY = '204';

export async function stopAll(): Promise<void> {
  for (const [contender, { store, runner }] of [...running]) {
    running.delete(contender);
    await runner.stop();
    await store.stop();
  }
}

async function attempt(contender: Contender, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    contender.failure = error instanceof Error ? error.message : String(error);
  }
}

async function start(contender: Contender, settings: Settings, warmUp: number): Promise<void> {
  const store = await contender.row.store();
  contender.durability = store.durability;
  try {
    const runner = await contender.row.runner(store.address, settings);
    running.set(contender, { store, runner });
    await runner.run(warmUp);
  } catch (error) {
    if (!running.has(contender)) await store.stop();
    throw error;
  }
}

async function measure({ store, runner }: Running, messages: number): Promise<Sample> {
  await store.tidy?.();
  const before = { store: familyCpuMicros(store.pid), client: cpuMicros(runner.pid) };
  const { count, seconds, http } = await runner.run(messages);
  const refused = Object.entries(http?.refused ?? {}).filter(([status]) => status !== NOTHING_READY);
  if (refused.length > 0) throw new Error(refused.map(([status, times]) => `${times} answers ${status}`).join(', '));
  return {
    perSecond: count / seconds,
    storeMicros: (familyCpuMicros(store.pid) - before.store) / count,
    clientMicros: (cpuMicros(runner.pid) - before.client) / count,
  };
}

/**
 * Measures every contender in every round; each round begins with another one. All of them run throughout, and are idle
 * except in their turn.
 */
export async function runRounds(names: string[], rounds: number, messages: number, settings: Settings) {
  const contenders = Object.entries(ROWS)
    .filter(([name]) => names.includes(name))
    .map(([name, row]): Contender => ({ name, row, durability: '', samples: [] }));
  for (const contender of contenders) await attempt(contender, () => start(contender, settings, messages / 2));
  for (let round = 0; round < rounds; round++) {
    console.error(`round ${round + 1} of ${rounds}`);
    const turn = round % contenders.length;
    for (const contender of [...contenders.slice(turn), ...contenders.slice(0, turn)]) {
      const server = running.get(contender);
      if (!server || contender.failure) continue;
      await attempt(contender, async () => {
        const sample = await measure(server, messages);
        contender.samples.push(sample);
        console.error(`  ${contender.name}: ${Math.round(sample.perSecond)} messages/s`);
      });
    }
  }
  return contenders;
}
