import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMuster, type Handler, MusterError, Worker } from '../../clients/typescript/index.ts';
import { claimSeconds, cooldown, type HashInput, liar, type Orders, type Report } from './plan.ts';
import { digest, measure } from './work.ts';

/** One agent: a process that knows its orders and Muster, but no other agent. */
const orders = JSON.parse(process.env['MUSTER_DEMO_ORDERS'] ?? '{}') as Orders;
const { scopeId, name: by, inboxId, barrierId, allowanceId, voteId, paceMs } = orders;
const muster = createMuster(orders);
// Exit when the coordinator is gone.
process.once('disconnect', () => process.exit(1));

/** Works until nothing is left. The step that completes a message also publishes its result to the coordinator. */
async function workOff<Payload>(
  mailboxId: string,
  leaseSeconds: number,
  work: Handler<Payload, Report>,
): Promise<void> {
  const options = { mailbox: { mailboxId }, resultsTo: { mailboxId: inboxId }, scopeId, holder: by, leaseSeconds };
  const worker = new Worker<Payload, Report>(muster, options, work);
  await worker.drained();
  await worker.close();
}

/** Arrives at the barrier, and continues once everybody has. */
async function meet(epoch: number): Promise<void> {
  let barrier = await muster.barrier.arrive({ barrierId, arrivalKey: by, epoch });
  while (barrier.state === 'OPEN' && barrier.epoch === epoch)
    barrier = await muster.barrier.view({ barrierId, epoch, waitSeconds: 30 });
}

await workOff<{ unit: string }>(orders.countId, claimSeconds, async ({ payload: { unit } }) => {
  const [size] = await Promise.all([measure(join(orders.folder, unit)), sleep(paceMs)]);
  return { kind: 'counted', unit, by, ...size };
});
await meet(1);

await workOff<HashInput>(orders.hashId, 30, async ({ payload }, { reserve, units }) => {
  const { unit, files, budgetId, pause } = payload;
  // 10 % more, since files may have been added meanwhile.
  const money = await reserve({ budgetId }, Math.max(1, Math.ceil(files * 1.1))).catch((error) => error);
  if (money instanceof MusterError && money.code === 'INSUFFICIENT_BUDGET')
    return { kind: 'refused', unit, by, code: money.code };
  if (money instanceof Error) throw money;
  await units({ allowanceId });
  if (pause) await muster.allowance.cooldown({ allowanceId, ...cooldown });
  const path = join(orders.folder, unit);
  const [sha256, { files: found }] = await Promise.all([digest(path), measure(path)]);
  await money.settle(found);
  return { kind: 'hashed', unit, by, sha256 };
});
await meet(2);

/** Each agent has one vote: it recomputes the digest and reports its result. */
const asked = { mailboxId: voteId, scopeId, holder: by, holderSession: 'vote', leaseSeconds: 30, waitSeconds: 30 };
const claim = await muster.message.recv<{ unit: string }>(asked);
if (claim) {
  const { unit } = claim.payload;
  const [correct] = await Promise.all([digest(join(orders.folder, unit)), sleep(paceMs)]);
  const sha256 = by === liar ? `${'0'.repeat(8)}${correct.slice(8)}` : correct;
  const payload: Report = { kind: 'voted', unit, taskId: claim.taskId ?? '', by, sha256 };
  const result = { payload, mailboxId: inboxId, scopeId };
  await muster.message.complete({ messageId: claim.id, token: claim.token, result });
}
process.exit(0);
