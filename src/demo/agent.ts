import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, createMuster, MusterError } from '../client/index.ts';
import {
  claimSeconds,
  cooldownSeconds,
  estimateOf,
  type HashInput,
  type Orders,
  priceOf,
  type Report,
} from './plan.ts';
import { digest, measure } from './work.ts';

/** One agent: a process that knows its orders and Muster, but no other agent. */
const orders = JSON.parse(process.env['MUSTER_DEMO_ORDERS'] ?? '{}') as Orders;
const { scopeId, name, inboxId, barrierId, allowanceId } = orders;
const muster = createMuster(orders);
const session = randomUUID();
// Exit when the coordinator is gone.
process.once('disconnect', () => process.exit(1));

type Claim = NonNullable<Answer<'message.recv'>>;

const receive = (mailboxId: string, leaseSeconds: number, waitSeconds: number) =>
  muster.message.recv({ mailboxId, scopeId, holder: name, holderSession: session, leaseSeconds, waitSeconds });

/** Acknowledges the message and publishes the report in one step: never one without the other. */
function complete({ id: messageId, token }: Claim, payload: Report): Promise<unknown> {
  return muster.message.complete({ messageId, token, result: { payload, mailboxId: inboxId, scopeId } });
}

/** Receives and works until nothing is ready and nothing is claimed that could come back. */
async function workOff(mailboxId: string, leaseSeconds: number, work: (claim: Claim) => Promise<void>): Promise<void> {
  for (;;) {
    const claim = await receive(mailboxId, leaseSeconds, 1);
    if (claim) await work(claim);
    else if (await isEmpty(mailboxId)) return;
  }
}

async function isEmpty(mailboxId: string): Promise<boolean> {
  const { mailboxes } = await muster.mailbox.list();
  const counts = mailboxes.find(({ id }) => id === mailboxId)?.counts;
  return counts !== undefined && counts.ready + counts.claimed === 0;
}

async function count(claim: Claim): Promise<void> {
  const { unit } = claim.payload as { unit: string };
  const [size] = await Promise.all([measure(join(orders.folder, unit)), sleep(orders.paceMs)]);
  await complete(claim, { kind: 'counted', unit, by: name, ...size });
}

/** Reserves money, takes a unit of the shared quota, works, and returns what was reserved but not used. */
async function hash(claim: Claim): Promise<void> {
  const { unit, files, budgetId, pause } = claim.payload as HashInput;
  const amountMinor = String(estimateOf(files));
  const reservation = await muster.budget
    .reserve({ budgetId, scopeId, holder: name, amountMinor })
    .catch((error: MusterError) => error);
  if (reservation instanceof MusterError) {
    if (reservation.code !== 'INSUFFICIENT_BUDGET') throw reservation;
    return void (await complete(claim, { kind: 'refused', unit, by: name, code: reservation.code }));
  }
  await takeQuota();
  if (pause) await muster.allowance.cooldown({ allowanceId, seconds: cooldownSeconds, reason: 'the disk is busy' });
  const path = join(orders.folder, unit);
  const [sha256, { files: found }] = await Promise.all([digest(path), measure(path)]);
  const bill = { budgetId, reservationId: reservation.id, workKey: unit };
  await muster.budget.settle({ ...bill, amountMinor: String(priceOf(found)) });
  if (priceOf(found) < BigInt(amountMinor)) await muster.budget.void(bill);
  await complete(claim, { kind: 'hashed', unit, by: name, sha256 });
}

/** Takes one unit: immediately if available, otherwise in line, strictly first come, first served. */
async function takeQuota(): Promise<void> {
  const request = { allowanceId, scopeId, units: 1, holder: name, ttlSeconds: 60 };
  let { waiterId, state } = await muster.allowance.wait(request);
  while (state === 'WAITING') {
    await sleep(50);
    ({ state } = await muster.waiter.view({ waiterId }));
  }
  if (state !== 'GRANTED') throw new Error(`no quota: ${state}`);
}

/** Arrives at the barrier, and continues once everybody has. */
async function meet(epoch: number): Promise<void> {
  let barrier = await muster.barrier.arrive({ barrierId, arrivalKey: name, epoch });
  while (barrier.state === 'OPEN' && barrier.epoch === epoch) {
    await sleep(100);
    barrier = await muster.barrier.view({ barrierId });
  }
}

/** One vote each: hashes again what another agent has hashed. */
async function vote(): Promise<void> {
  const claim = await receive(orders.voteId, 30, 30);
  if (!claim) return;
  const { unit } = claim.payload as { unit: string };
  const [correct] = await Promise.all([digest(join(orders.folder, unit)), sleep(orders.paceMs)]);
  const sha256 = orders.lies ? `${'0'.repeat(8)}${correct.slice(8)}` : correct;
  await complete(claim, { kind: 'voted', taskId: claim.taskId ?? '', by: name, sha256 });
}

await workOff(orders.countId, claimSeconds, count);
await meet(1);
await workOff(orders.hashId, 30, hash);
await meet(2);
await vote();
process.exit(0);
