import { randomUUID } from 'node:crypto';
import { relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMuster, Worker } from '../../clients/typescript/index.ts';
import * as plan from './plan.ts';
import type { Fleet } from './processes.ts';
import { log, status } from './screen.ts';

const { claimSeconds, cooldown, crew, parties, quorum, successor, victim } = plan;
type Server = Awaited<ReturnType<Fleet['serve']>>;

/** Creates what the acts need, except the budget, whose amount is known only after the first act. */
export async function prepare(server: Server, folder: string, units: readonly string[]): Promise<plan.Knowledge> {
  const muster = createMuster(server);
  const scopeId = randomUUID();
  const mailbox = async (name: string, more: object = {}) =>
    (await muster.mailbox.create({ name, backlogLimit: 100_000, ...more })).id;
  const [countId, hashId, voteId] = [await mailbox('count'), await mailbox('hash'), await mailbox('vote')];
  const inboxId = await mailbox('reports', { mode: 'INBOX', recipientId: 'coordinator' });
  const { id: barrierId } = await muster.barrier.create({ scopeId, target: parties });
  // Makes the budgeted work take about ten windows.
  const unitsLimit = Math.max(1, Math.ceil(units.length / 11));
  const { id: allowanceId } = await muster.allowance.create({ name: 'disk', unitsLimit, windowSeconds: 1 });
  const ids = { scopeId, countId, hashId, voteId, inboxId, barrierId, allowanceId };
  const reports = { counted: new Map(), hashed: new Map(), refused: new Map(), voted: new Map() };
  return { muster, folder, units, ids, reports, received: 0 };
}

/** Three acts with a barrier between them; resolves when every agent has ended. */
export async function play(known: plan.Knowledge, server: Server, fleet: Fleet): Promise<void> {
  const { muster, ids, folder, units, reports } = known;
  const { scopeId, barrierId, allowanceId, countId, hashId, voteId } = ids;
  const { counted, hashed, refused, voted } = reports;
  const until = async (condition: () => boolean | Promise<boolean>) => {
    while (!(await condition())) await sleep(50);
  };
  // Counting takes some 5 s, so that people can follow.
  const paceMs = Math.min(1000, Math.round((5000 * crew.length) / units.length));
  const start = (name: string) => fleet.start({ ...server, ...ids, folder, name, paceMs });

  async function send(mailboxId: string, payloads: readonly { unit: string }[]): Promise<void> {
    const sends = payloads.map((payload) =>
      muster.call.message.send({ mailboxId, scopeId, payload, workKey: payload.unit }),
    );
    for (let from = 0; from < sends.length; from += 100)
      for (const sent of await muster.batch(sends.slice(from, from + 100))) if (!sent.ok) throw sent.error;
  }

  /** Stops the victim first, so that it still holds the message when it dies. */
  async function crash(): Promise<void> {
    const heldByVictim = async () => (await muster.waits.get()).heldClaims.find(({ holder }) => holder === victim);
    let claim: Awaited<ReturnType<typeof heldByVictim>>;
    for (; !claim; await sleep(100), claim = await heldByVictim()) {
      fleet.signal(victim, 'SIGCONT');
      await sleep(20);
      fleet.signal(victim, 'SIGSTOP');
    }
    const { messageId } = claim;
    const { unit } = (await muster.message.view<{ unit: string }>({ messageId })).payload;
    known.crashed = { messageId, unit };
    const pid = fleet.signal(victim, 'SIGKILL');
    log('crash', `kill -9 ${pid}: ${victim} dies while it holds ${unit}; nobody tells Muster`);
    start(successor);
    log('crash', `${successor} starts in its place; the claim lasts until its lease of ${claimSeconds} s expires`);
    await until(async () => !(await heldByVictim()));
    log('lease', `${victim}'s claim has expired: ${unit} is ready again`);
  }

  /** The coordinator arrives once the next act is ready, so nobody starts early. */
  async function meet(epoch: number): Promise<void> {
    const { target } = await muster.barrier.arrive({ barrierId, arrivalKey: 'coordinator', epoch });
    await until(async () => (await muster.barrier.view({ barrierId, epoch, waitSeconds: 30 })).state !== 'OPEN');
    log('barrier', `all ${target} have arrived: epoch ${epoch} is released, everybody continues at once`);
  }

  let isDecided = false;
  /** Accepts a vote for the known digest, and rejects another. */
  async function judge({ taskId, unit, by, sha256 }: plan.ReportOf<'voted'>): Promise<void> {
    const verdict = { groupId: known.groupId ?? '', taskId };
    const isRight = sha256 === hashed.get(unit)?.sha256;
    if (isRight && isDecided) return log('group', `${by} agrees too, after the decision: it stands`);
    const { groupState } = await (isRight ? muster.task.accept(verdict) : muster.task.reject(verdict));
    isDecided = groupState === 'DECIDED';
    log('group', `${by} ${isRight ? 'agrees: accepted' : `says ${sha256.slice(0, 12)}…, which is wrong: rejected`}`);
  }

  const inbox = { mailbox: { mailboxId: ids.inboxId }, scopeId, holder: 'coordinator', closeOnSignals: false };
  const worker = new Worker<plan.Report, void>(muster, inbox, async ({ payload: report }) => {
    const { kind, unit, by } = report;
    if (kind === 'voted') await judge(report);
    if (kind === 'refused' && refused.size === 0)
      log('budget', `used up: ${unit} is refused with ${report.code}, before anything is spent`);
    known.received++;
    (reports[kind] as Map<string, plan.Report>).set(kind === 'voted' ? by : unit, report);
    status(`${counted.size} counted, ${hashed.size} hashed, ${refused.size} refused of ${units.length}`);
  });
  // Calls fail once the demo is interrupted.
  worker.on('error', () => undefined);

  /** Prints what Muster does by itself. */
  async function follow(): Promise<void> {
    for await (const { type } of muster.events({ types: ['allowance.cooldown_started', 'group.decided'] }))
      if (type === 'group.decided')
        return log('group', 'decided at that moment, SATISFIED: the task that nobody took is cancelled');
      else log('quota', `"${cooldown.reason}": an agent starts a cooldown of ${cooldown.seconds} s, for everybody`);
  }
  const followed = follow();
  followed.catch(() => undefined);

  const first = units.map((unit) => ({ unit }));
  await send(countId, first);
  log('queue', `${units.length} parts of ${relative(process.cwd(), folder) || '.'} are queued, one message each`);
  for (const name of crew) start(name);
  log('agents', `${crew.join(', ')} start: ${crew.length} processes that don't know each other`);
  await until(() => counted.size > units.length / 5);
  await Promise.all([crash(), until(() => counted.size === units.length)]);
  const again = counted.get(known.crashed?.unit ?? '');
  log('queue', `${again?.by} has counted ${again?.unit} at attempt 2: nothing was lost`);

  const files = [...counted.values()].reduce((sum, report) => sum + report.files, 0);
  const limitMinor = String(Math.floor(files * 0.7));
  known.budgetId = (await muster.budget.create({ name: 'hashing', currency: 'EUR', scale: 2, limitMinor })).id;
  const { budgetId } = known;
  log('budget', `hashing costs a cent per file, ${files} cents in all; the budget is ${limitMinor} cents`);
  // The most expensive ones last: the budget will not cover them.
  const order = [...counted.values()].sort((a, b) => a.files - b.files);
  const pauseAt = Math.floor(order.length / 3);
  const second = order.map(({ unit, files }, i) => ({ unit, files, budgetId, pause: i === pauseAt }));
  await send(hashId, second);
  const { unitsLimit } = await muster.allowance.view({ allowanceId });
  log('quota', `all agents together may start ${unitsLimit} parts per second; the others wait in line`);
  await meet(1);
  await muster.barrier.nextEpoch({ barrierId });
  await until(() => hashed.size + refused.size === units.length);
  log('hash', `${hashed.size} parts hashed and paid for, ${refused.size} refused`);

  // A unit for a group that decides when enough agree. It has one task more than there are agents.
  const unit = order.find(({ unit, files }) => files > 0 && hashed.has(unit))?.unit;
  if (unit === undefined) throw new Error('nothing was hashed: there is nothing to vote about');
  const group = { parentScopeId: scopeId, mailboxId: voteId, condition: 'N_ACCEPTED', threshold: quorum } as const;
  const { groupId } = await muster.group.create(group);
  known.groupId = groupId;
  for (let n = 0; n <= crew.length; n++) await muster.task.submit({ groupId, taskKey: `${n}`, input: { unit } });
  await muster.group.seal({ groupId });
  log('group', `is the digest of ${unit} right? ${crew.length + 1} tasks; ${quorum} agents must agree`);
  await meet(2);
  await until(() => voted.size === crew.length && fleet.hasEnded);
  await Promise.all([worker.drained(), followed]);
  await worker.close();
}
