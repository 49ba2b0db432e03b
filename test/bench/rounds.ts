import { CONTENDERS } from './contenders/all.ts';
import type { Contender, Sample, Settings } from './contenders/contender.ts';
import { PHASE_NAMES, type Phase } from './phases.ts';
import { median } from './report.ts';

/** All samples and failures of a run. */
export class Results {
  readonly failures: string[] = [];
  readonly #samples = new Map<string, Sample[]>();

  add(name: string, phase: Phase, sample: Sample): void {
    this.#samples.set(`${name}/${phase}`, [...this.of(name, phase), sample]);
  }

  of(name: string, phase: Phase): readonly Sample[] {
    return this.#samples.get(`${name}/${phase}`) ?? [];
  }

  all(): Sample[] {
    return [...this.#samples.values()].flat();
  }

  median(name: string, phase: Phase, value: (sample: Sample) => number | undefined): number | undefined {
    const list = this.of(name, phase)
      .map(value)
      .filter((v) => v !== undefined);
    return list.length > 0 ? median(list) : undefined;
  }

  /** Runs one part. Its failure is reported at the end, and does not affect the others. */
  async attempt<T>(what: string, action: () => Promise<T>): Promise<T | undefined> {
    try {
      return await action();
    } catch (error) {
      this.failures.push(`${what}: not measured: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    }
  }
}

async function startOne(name: string, settings: Settings, results: Results): Promise<Contender | undefined> {
  const contender = CONTENDERS[name]?.(settings);
  if (!contender) return undefined;
  const started = await results.attempt(contender.name, async () => {
    await contender.start();
    await contender.warmUp();
    return contender;
  });
  if (!started) await contender.stop();
  return started;
}

/** Starts and warms up the contenders in `only`, in the order of the tables. */
export async function startContenders(only: string[], settings: Settings, results: Results): Promise<Contender[]> {
  const running: Contender[] = [];
  for (const name of Object.keys(CONTENDERS)) {
    if (!only.includes(name)) continue;
    const contender = await startOne(name, settings, results);
    if (contender) running.push(contender);
  }
  return running;
}

/**
 * Runs every contender in every round. Each round begins with another one, so that fluctuations of the machine affect
 * all alike.
 */
export async function runRounds(running: Contender[], rounds: number, results: Results): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    console.error(`round ${round + 1} of ${rounds}`);
    const order = [...running.slice(round % running.length), ...running.slice(0, round % running.length)];
    for (const phase of PHASE_NAMES) {
      for (const contender of order) {
        if (!contender.phases.includes(phase)) continue;
        const sample = await results.attempt(`${contender.name}, ${phase}`, () => contender.run(phase));
        if (!sample) continue;
        results.add(contender.name, phase, sample);
        const refused = Object.entries(sample.http?.refused ?? {}).filter(([status]) => status !== '204');
        for (const [status, count] of refused) {
          results.failures.push(`${contender.name}, ${phase}: ${count} answers ${status}`);
        }
      }
    }
  }
}
