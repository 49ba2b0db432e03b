import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { expectAgreement } from '../support/agree.ts';
import { Caller } from './caller.ts';
import { type Event, journal } from './journal.ts';
import { Lab } from './lab.ts';
import { tooEarly } from './order.ts';
import { chanceOf, seedOf } from './seed.ts';
import { again } from './under-load.ts';
import { type BatchedPlan, type Queue, Workload } from './workload.ts';

const size = 200;
const batchSize = 100;

/** What each message is after: a fan-out of 60 and its end, a chain of 60, diamonds of four one after the other. */
function graph(): number[][] {
  const after: number[][] = [[]];
  for (let n = 0; n < 60; n++) after.push([0]);
  after.push(Array.from({ length: 45 }, (_, n) => n + 1));
  for (let n = 0; n < 60; n++) after.push([after.length - 1]);
  while (after.length < size) {
    const top = after.length - 1;
    after.push([top], [top], [top + 1, top + 2]);
  }
  return after.slice(0, size);
}

describe('A graph of 200 messages', function () {
  this.timeout(240_000);
  let lab: Lab;
  before(async () => {
    lab = await Lab.opened();
  });
  after(() => lab.stop());

  it('is worked to its end under kills of workers, APIs and Redis: each message once, in an order that it allows', async () => {
    const seed = seedOf('a graph under kills');
    await lab.admit(1);
    const chance = chanceOf(seed + 1);
    const load = new Workload(new Caller(() => lab.urls()), lab.tenants, seed);
    const [access] = lab.tenants;
    if (!access) throw new Error('no tenant');
    const { body } = await load.call(0, access, {
      ...{ kind: 'create mailbox', object: ({ id }) => `mailbox ${id}`, path: '/mailboxes' },
      body: { name: 'graph', maxAttempts: 100 },
    });
    const queue: Queue = { access, mailboxId: body.id, scopeId: randomUUID() };
    await load.call(0, access, {
      ...{ kind: 'create scope', object: ({ id }) => `scope ${id}`, path: '/scopes', body: { scopeId: queue.scopeId } },
    });
    // Nothing is received before all of it is there.
    await load.call(0, access, { kind: 'pause', object: '', path: `/scopes/${queue.scopeId}/pause`, body: {} });
    const ids = await plant(load, queue);
    await load.call(0, access, { kind: 'resume', object: '', path: `/scopes/${queue.scopeId}/resume`, body: {} });

    let isDone = false;
    const kills = { api: 0, worker: 0, redis: 0 };
    const killing = again(async () => {
      if (isDone) return sleep(100);
      await sleep(200 + chance.below(600));
      const what = chance.of(['api', 'worker', 'redis'] as const);
      kills[what]++;
      if (what === 'api') {
        const at = chance.below(lab.apis.length);
        await lab.apis[at]?.end('SIGKILL');
        lab.apis[at] = await lab.api();
      } else if (what === 'worker') {
        await lab.worker?.end('SIGKILL');
        lab.worker = await lab.startWorker();
      } else {
        await lab.redis.kill();
        await sleep(chance.below(300));
        await lab.redis.start();
      }
    }, 20_000);
    const clients = Array.from({ length: 6 }, async (_, client) => {
      while (!isDone) {
        const claims = await load.claimSome(client, queue, 1 + load.chance.below(3));
        if (claims.length === 0) await sleep(20);
        for (const claim of claims) {
          // A client that dies between the claim and its end.
          if (load.chance.next() < 0.05) continue;
          await load.complete(client, access, claim);
        }
      }
    });
    const acked = async (): Promise<number> => {
      const { body: found } = await load.caller.insist(access, `/mailboxes/${queue.mailboxId}`, randomUUID());
      const { ready, delayed, blocked, claimed } = found.counts;
      return size - ready - delayed - blocked - claimed;
    };
    while ((await acked()) < size) await sleep(200);
    isDone = true;
    await Promise.all([killing, ...clients]);
    expect(load.unexpected).to.deep.equal([]);

    const service = await lab.service();
    try {
      const [world] = lab.worlds(service);
      if (!world) throw new Error('no world');
      const events = await journal(world);
      const endsOf = (type: string): Event[] => events.filter((event) => event.type === `message.${type}`);
      expect(endsOf('acked').map(({ aggregateId }) => aggregateId)).to.have.members(ids);
      for (const type of ['rejected', 'failed', 'expired', 'cancelled']) expect(endsOf(type), type).to.deep.equal([]);
      expect(tooEarly(load, events)).to.deep.equal([]);
      await expectAgreement(world);
      const { attempts, retries, replayed } = load.caller.counts;
      console.log(
        `      ${kills.api} kills of an API, ${kills.worker} of the worker, ${kills.redis} of Redis; ` +
          `${endsOf('claimed').length} claims of ${ids.length} messages, ${endsOf('lease_expired').length} leases lapsed; ` +
          `${attempts} attempts, ${retries} retries, ${replayed} replayed`,
      );
    } finally {
      await service.stop();
      load.caller.close();
    }
  });
});

/** Sends the graph in two batches: the second names messages of the first by their ids. Returns all ids. */
async function plant(load: Workload, { access, mailboxId, scopeId }: Queue): Promise<string[]> {
  const ids: string[] = [];
  const all = graph();
  for (let from = 0; from < size; from += batchSize) {
    const plans = all.slice(from, from + batchSize).map((prerequisites, at): BatchedPlan => {
      const named = prerequisites.map((one) => ({ messageId: one < from ? ids[one] : { $from: one - from } }));
      return {
        kind: 'plant',
        object: ({ id }) => {
          ids[from + at] = id;
          return `message ${id}`;
        },
        call: 'message.send',
        body: { mailboxId, scopeId, payload: from + at, ...(named.length > 0 && { after: named }) },
      };
    });
    await load.batch(0, access, plans);
  }
  for (const [index, id] of ids.entries())
    load.planted.set(id, { after: (all[index] ?? []).map((one) => ids[one] ?? ''), onFailure: 'CANCEL' });
  return ids;
}
