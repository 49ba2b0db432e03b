import { isRefusal } from '../error.ts';
import type { ReservationRecord } from '../worker/spending.ts';
import type { CallSpender } from './spender.ts';

const pageSize = 200;
/** How many closed reservations are looked at: a budget may keep those of more than a year. */
const maxClosed = 1000;

/**
 * The reservations that earlier attempts of the same work have made in a budget, oldest first, as far as the key may see
 * them: those that are ACTIVE, and those among the newest closed ones.
 */
export async function earlierOf(spender: CallSpender, budgetId: string): Promise<readonly ReservationRecord[]> {
  const { muster, insist, workName, attemptName, claimedAt, since = '' } = spender;
  if (workName === undefined) return [];
  const isEarlier = ({ workKey, createdAt }: ReservationRecord): boolean =>
    workKey?.startsWith(`${workName}/`) === true &&
    !workKey.startsWith(`${attemptName}/`) &&
    (claimedAt === null || createdAt < claimedAt);

  async function* newest(state: string): AsyncGenerator<ReservationRecord> {
    for (let from: { cursor?: string } = {}; ; ) {
      const asked = { budgetId, state, limit: pageSize, ...from };
      const { reservations, nextCursor } = await insist((options) => muster.budget.view(asked, options));
      yield* reservations;
      if (nextCursor === null) return;
      from = { cursor: nextCursor };
    }
  }

  // By id: one may close between the two lists.
  const found = new Map<string, ReservationRecord>();
  const look = (one: ReservationRecord): void => {
    if (isEarlier(one)) found.set(one.id, one);
  };
  try {
    for await (const one of newest('ACTIVE')) look(one);
    let left = maxClosed;
    for await (const one of newest('SETTLED,VOIDED')) {
      if (one.createdAt < since || left-- === 0) break;
      look(one);
    }
  } catch (error) {
    if (!isRefusal(error, 'PERMISSION_DENIED')) throw error;
  }
  return [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}
