import { expect } from 'chai';
import { expectAgreement } from '../support/agree.ts';
import { journal, lost } from './journal.ts';
import type { Lab } from './lab.ts';
import { onceSettled } from './verify.ts';
import type { Workload } from './workload.ts';

/** An answer reaches its client a little after its write. */
const answerMs = 250;

interface Missing {
  readonly count: number;
  readonly text: string;
}

/** The changes acknowledged before the moment that are missing. The remaining records must be consistent. */
export async function missing(lab: Lab, load: Workload, by: number, maxMs: number): Promise<Missing> {
  return onceSettled(lab, load, async (worlds) => {
    const events = (await Promise.all(worlds.map(journal))).flat();
    for (const world of worlds) await expectAgreement(world);
    const gone = lost(load.history, events, by);
    const oldestMs = Math.max(0, ...gone.map(({ respondedAt }) => by - respondedAt));
    expect(oldestMs).to.be.at.most(maxMs + answerMs);
    const text = `${gone.length} of ${load.history.length} operations lost, the oldest ${oldestMs.toFixed(0)} ms before`;
    return { count: gone.length, text };
  });
}
