import { keyName } from '../../engine/library/keys.ts';
import type { LateDestination, WorkersState } from '../../engine/metrics/store-reading.ts';
import { nowOf, type Store, serverOf } from '../../engine/redis/cluster.ts';
import { repairJob, workerKeys } from '../../primitives/timer/keys.ts';

/** Reads what the workers leave in the store. */
export async function readWorkers(store: Store): Promise<WorkersState> {
  const round = keyName(workerKeys.round, { job: repairJob });
  const oldest = store.get(keyName(workerKeys.oldestClaim, {}));
  const late = store.get(keyName(workerKeys.lateDestinations, {}));
  const [now, due, claimedAt, destinations] = await Promise.all([
    nowOf(serverOf(store, round)),
    store.get(round),
    oldest,
    late,
  ]);
  const since = (at: string | number): number => Math.max(0, now - Number(at)) / 1000;
  return {
    lagSeconds: due === null ? undefined : since(due),
    oldestClaimAgeSeconds: claimedAt === null ? 0 : since(claimedAt),
    lateDestinations: (JSON.parse(destinations ?? '[]') as LateDestination[]).map((one) => ({
      ...one,
      lagSeconds: since(one.since),
    })),
  };
}
