// Phases: four agents count, and then each needs the counts of all. Nobody begins a phase before everybody has finished the
// one before. The same barrier serves all phases.
import { createMuster, type MusterError } from 'muster-client';

const { MUSTER_URL: url, MUSTER_KEY: key, MUSTER_SPACE: spaceId } = process.env;
const muster = createMuster({ url, key, spaceId });

const names = ['ada', 'ben', 'cleo', 'dan'];
const { id: barrierId } = await muster.barrier.create({ scopeId: crypto.randomUUID(), target: names.length });
const letters: number[] = [];
const shares: number[] = [];

/** Arrives, and returns when everybody has. An arrival counts once, however often it is repeated. */
async function meet(name: string, epoch: number): Promise<void> {
  await muster.barrier.arriveAndWait({ barrierId, arrivalKey: name, epoch });
  // The first agent to go on opens the barrier for the next phase. The others find it open.
  await muster.barrier.nextEpoch({ barrierId }).catch((error: MusterError) => {
    if (error.code !== 'BARRIER_NOT_RELEASED') throw error;
  });
}

/** An agent; in production each is a separate process. */
async function agent(name: string): Promise<void> {
  letters.push(name.length);
  await meet(name, 1);
  const total = letters.reduce((sum, count) => sum + count, 0);
  shares.push(name.length / total);
  await meet(name, 2);
}

await Promise.all(names.map(agent));
const sum = shares.reduce((all, share) => all + share, 0);
const { epoch } = await muster.barrier.view({ barrierId });
console.log(`${shares.length} shares make ${sum.toFixed(2)}; the barrier is at epoch ${epoch}`);
