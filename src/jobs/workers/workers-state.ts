import { keyName } from '../../engine/library/keys.ts';
import type { WorkersState } from '../../engine/metrics/store-reading.ts';
import { nowOf, type Store, serverOf } from '../../engine/redis/cluster.ts';
import { repairJob, workerKeys } from '../../primitives/timer/keys.ts';

/** Reads what the workers leave in the store. */
export async function readWorkers(store: Store): Promise<WorkersState> {
  const round = keyName(workerKeys.round, { job: repairJob });
  const oldest = store.get(keyName(workerKeys.oldestClaim, {}));
  const [now, due, claimedAt] = await Promise.all([nowOf(serverOf(store, round)), store.get(round), oldest]);
  const since = (at: string): number => Math.max(0, now - Number(at)) / 1000;
  return {
    lagSeconds: due === null ? undefined : since(due),
    oldestClaimAgeSeconds: claimedAt === null ? 0 : since(claimedAt),
  };
}
