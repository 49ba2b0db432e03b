import { join } from 'node:path';
import type { Event } from '../../clients/typescript/index.ts';
import { cooldown, crew, type Knowledge, parties, quorum } from './plan.ts';
import { digest, measure } from './work.ts';

/** Compares Muster's answers with the files themselves, and with its guarantees. */
export async function checks(known: Knowledge) {
  const { muster, folder, units, ids, crashed, received, budgetId = '', groupId = '', reports } = known;
  const { counted, hashed, refused, voted } = reports;
  const all: { readonly name: string; readonly holds: boolean; readonly text: string }[] = [];
  const check = (name: string, holds: boolean, text: string) => all.push({ name, holds, text });
  const events: Event[] = [];
  for await (const event of muster.event.all({ limit: 500 })) events.push(event);
  const count = (type: string): number => events.filter((event) => event.type === type).length;

  const sizes = await Promise.all(units.map((unit) => measure(join(folder, unit))));
  const total = (list: readonly { files: number; bytes: number }[]) =>
    `${list.reduce((sum, { files }) => sum + files, 0)} files, ${list.reduce((sum, { bytes }) => sum + bytes, 0)} bytes`;
  const [through, directly] = [total([...counted.values()]), total(sizes)];
  check('files', through === directly, `${through} through Muster; ${directly} counted directly`);

  let acked = 0;
  const again: string[] = [];
  for await (const { id, state, attempts } of muster.message.all({ mailboxId: ids.countId, limit: 200 })) {
    if (state === 'ACKED') acked++;
    if (attempts > 1) again.push(id);
  }
  const once = received === counted.size + hashed.size + refused.size + voted.size;
  const isAll = acked === units.length && once && again.join() === crashed?.messageId;
  const twice = `${again.length} of them took a second attempt: ${crashed?.unit}`;
  check('queue', isAll, `${acked} of ${units.length} messages done, each reported once; ${twice}`);

  let same = 0;
  for (const { unit, sha256 } of hashed.values()) if ((await digest(join(folder, unit))) === sha256) same++;
  const isWhole = same === hashed.size && hashed.size + refused.size === units.length;
  check('digests', isWhole, `${same} of ${hashed.size} match when the files are hashed again`);

  const { balances } = await muster.budget.view({ budgetId });
  const { limit, settled, reserved, available } = balances;
  const bills = [...hashed.keys()].reduce((sum, unit) => sum + (counted.get(unit)?.files ?? 0), 0);
  const isExact = BigInt(limit) === BigInt(settled) + BigInt(reserved) + BigInt(available);
  const isPaid = isExact && reserved === '0' && settled === String(bills) && refused.size > 0;
  const rest = `${reserved} reserved + ${available} left = ${limit} cents; ${refused.size} refused`;
  check('budget', isPaid, `${settled} settled (bills: ${bills}) + ${rest}`);

  const { unitsLimit } = await muster.allowance.view({ allowanceId: ids.allowanceId });
  const granted = events.filter(({ type }) => type === 'waiter.granted');
  const seconds = new Map<string, number>();
  for (const { occurredAt } of granted)
    seconds.set(occurredAt.slice(0, 19), (seconds.get(occurredAt.slice(0, 19)) ?? 0) + 1);
  const peak = Math.max(...seconds.values());
  const queued = events.filter(({ type }) => type === 'waiter.queued').map(({ aggregateId }) => aggregateId);
  const inLine = granted.map(({ aggregateId }) => aggregateId).filter((id) => queued.includes(id));
  const cooling = events.findIndex(({ type }) => type === 'allowance.cooldown_started');
  const until = Date.parse(events[cooling]?.occurredAt ?? '') + cooldown.seconds * 1000;
  const early = granted.filter((event) => events.indexOf(event) > cooling && Date.parse(event.occurredAt) < until);
  const isFair = peak <= unitsLimit && inLine.join() === queued.join() && cooling >= 0 && early.length === 0;
  const inOrder = `${queued.length} waited, granted in order of arrival; ${early.length} granted during the cooldown`;
  check('quota', isFair, `at most ${peak} of ${unitsLimit} units in a second; ${inOrder}`);

  const { outcome, counts } = await muster.group.view({ groupId });
  const { accepted, rejected, cancelled } = counts;
  const isDecided = outcome === 'SATISFIED' && accepted === quorum && rejected === 1 && cancelled === 1;
  const others = `${rejected} rejected, ${cancelled} cancelled of ${crew.length + 1} tasks`;
  check('group', isDecided, `${outcome} with ${accepted} of ${quorum} accepted; ${others}`);

  const [arrived, released] = [count('barrier.arrived'), count('barrier.released')];
  const isMet = released === 2 && arrived === 2 * parties;
  check('barrier', isMet, `${released} epochs released by ${arrived} arrivals, ${parties} each`);

  const { messages, claims, waiters, reservations } = await muster.census.get();
  const open = messages.READY + messages.CLAIMED + claims.HELD + waiters.WAITING + reservations.ACTIVE;
  check('left over', open === 0, `${open} messages, claims, waiters and reservations`);
  return all;
}
