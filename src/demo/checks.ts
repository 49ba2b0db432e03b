import { join } from 'node:path';
import type { Answer } from '../client/index.ts';
import { cooldownSeconds, crew, parties, priceOf, quorum } from './plan.ts';
import type { Stage } from './stage.ts';
import { digest, measure } from './work.ts';

/** One line of the summary. */
interface Check {
  readonly name: string;
  readonly holds: boolean;
  readonly text: string;
}

type Event = Answer<'event.list'>['events'][number];

/** Compares Muster's answers with the files themselves, and with its guarantees. */
export async function checks(stage: Stage): Promise<Check[]> {
  const events = await journal(stage);
  const found = [await files(stage), await queue(stage), await digests(stage), await budget(stage)];
  return [...found, quota(events, await limitOf(stage)), await group(stage), barrier(events), await leftOver(stage)];
}

async function journal({ muster }: Stage): Promise<Event[]> {
  const all: Event[] = [];
  for (let cursor = ''; ; ) {
    const page = await muster.event.list({ limit: 500, ...(cursor !== '' && { cursor }) });
    if (page.events.length === 0) return all;
    all.push(...page.events);
    cursor = page.nextCursor;
  }
}

async function files({ folder, units, counted }: Stage): Promise<Check> {
  let [walkedFiles, walkedBytes, files, bytes] = [0, 0, 0, 0];
  for (const unit of units) {
    const size = await measure(join(folder, unit));
    walkedFiles += size.files;
    walkedBytes += size.bytes;
  }
  for (const size of counted.values()) {
    files += size.files;
    bytes += size.bytes;
  }
  const holds = files === walkedFiles && bytes === walkedBytes;
  const text = `${files} files, ${bytes} bytes through Muster; ${walkedFiles} files, ${walkedBytes} bytes counted directly`;
  return { name: 'files', holds, text };
}

async function queue({ muster, ids, units, crashed, reports, counted, hashed, refused, votes }: Stage): Promise<Check> {
  const attempts = new Map<string, number>();
  let acked = 0;
  let next: string | null | undefined;
  while (next !== null) {
    const after = next === undefined ? {} : { cursor: next };
    const page: Answer<'message.list'> = await muster.message.list({ mailboxId: ids.countId, limit: 200, ...after });
    for (const { id, state, attempts: tries } of page.messages) {
      if (state === 'ACKED') acked++;
      if (tries > 1) attempts.set(id, tries);
    }
    next = page.nextCursor;
  }
  const once = reports === counted.size + hashed.size + refused.size + votes.length;
  const holds = acked === units.length && once && attempts.size === 1 && attempts.get(crashed?.messageId ?? '') === 2;
  const text = `${acked} of ${units.length} messages done, each reported once; ${attempts.size} of them took a second attempt: ${crashed?.unit}`;
  return { name: 'queue', holds, text };
}

async function digests({ folder, hashed, units, refused }: Stage): Promise<Check> {
  let same = 0;
  for (const { unit, sha256 } of hashed.values()) if ((await digest(join(folder, unit))) === sha256) same++;
  const holds = same === hashed.size && hashed.size + refused.size === units.length;
  return { name: 'digests', holds, text: `${same} of ${hashed.size} match when the files are hashed again` };
}

async function budget({ muster, budgetId = '', hashed, counted, refused }: Stage): Promise<Check> {
  const { balances } = await muster.budget.view({ budgetId });
  const [limit, settled, reserved, available] = [
    balances.limit,
    balances.settled,
    balances.reserved,
    balances.available,
  ].map(BigInt) as [bigint, bigint, bigint, bigint];
  let bills = 0n;
  for (const unit of hashed.keys()) bills += priceOf(counted.get(unit)?.files ?? 0);
  const holds = limit === settled + reserved + available && reserved === 0n && settled === bills && refused.size > 0;
  const text = `${settled} settled (bills: ${bills}) + ${reserved} reserved + ${available} left = ${limit} cents; ${refused.size} refused`;
  return { name: 'budget', holds, text };
}

async function limitOf({ muster, ids }: Stage): Promise<number> {
  return (await muster.allowance.view({ allowanceId: ids.allowanceId })).unitsLimit;
}

function quota(events: readonly Event[], unitsLimit: number): Check {
  const granted = events.filter(({ type }) => type === 'waiter.granted');
  const seconds = new Map<number, number>();
  for (const { occurredAt } of granted) {
    const second = Math.floor(Date.parse(occurredAt) / 1000);
    seconds.set(second, (seconds.get(second) ?? 0) + 1);
  }
  const maxPerSecond = Math.max(...seconds.values());
  const queued = events.filter(({ type }) => type === 'waiter.queued').map(({ aggregateId }) => aggregateId);
  const inLine = granted.map(({ aggregateId }) => aggregateId).filter((id) => queued.includes(id));
  const cooldown = events.findIndex(({ type }) => type === 'allowance.cooldown_started');
  const until = Date.parse(events[cooldown]?.occurredAt ?? '') + cooldownSeconds * 1000;
  const early = events
    .slice(cooldown)
    .filter(({ type, occurredAt }) => type === 'waiter.granted' && Date.parse(occurredAt) < until);
  const holds = maxPerSecond <= unitsLimit && inLine.join() === queued.join() && cooldown >= 0 && early.length === 0;
  const text = `at most ${maxPerSecond} of ${unitsLimit} units in a second; ${queued.length} waited, granted in order of arrival; ${early.length} granted during the cooldown`;
  return { name: 'quota', holds, text };
}

async function group({ muster, vote }: Stage): Promise<Check> {
  const { outcome, counts } = await muster.group.view({ groupId: vote?.groupId ?? '' });
  const { accepted, rejected, cancelled } = counts;
  const holds = outcome === 'SATISFIED' && accepted === quorum && rejected === 1 && cancelled === 1;
  const text = `${outcome} with ${accepted} of ${quorum} accepted; ${rejected} rejected, ${cancelled} cancelled of ${crew.length + 1} tasks`;
  return { name: 'group', holds, text };
}

function barrier(events: readonly Event[]): Check {
  const count = (type: string): number => events.filter((event) => event.type === type).length;
  const [arrived, released] = [count('barrier.arrived'), count('barrier.released')];
  const holds = released === 2 && arrived === 2 * parties;
  return { name: 'barrier', holds, text: `${released} epochs released by ${arrived} arrivals, ${parties} each` };
}

async function leftOver({ muster }: Stage): Promise<Check> {
  const { messages, claims, waiters, reservations } = await muster.census.get();
  const open = messages.READY + messages.CLAIMED + claims.HELD + waiters.WAITING + reservations.ACTIVE;
  return { name: 'left over', holds: open === 0, text: `${open} messages, claims, waiters and reservations` };
}
