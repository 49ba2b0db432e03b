import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../support/processes.ts';
import { Sink } from '../support/sink.ts';
import { Caller, type Heard } from './caller.ts';
import { Lab } from './lab.ts';
import { chanceOf, seedOf } from './seed.ts';
import { again } from './under-load.ts';

const paths = ['/a', '/b'];

interface Row {
  readonly state: string;
  readonly errorCode: string | null;
}

describe('Webhooks whose store and worker are killed', function () {
  this.timeout(600_000);
  let lab: Lab;
  let sink: Sink;
  before(async () => {
    lab = await Lab.opened();
    sink = await Sink.start();
  });
  after(async () => {
    await sink.stop();
    await lab.stop();
  });

  it('every event reaches every destination, each attempt is recorded, none is lost', async () => {
    const chance = chanceOf(seedOf('kills under webhooks'));
    await lab.admit(1);
    const caller = new Caller(() => lab.urls());
    const ask = (path: string, body?: unknown): Promise<Heard> => {
      const [access = { spaceId: '', apiKey: '' }] = lab.tenants;
      return caller.insist(access, path, randomUUID(), body);
    };
    sink.answer = (response) => globalThis.setTimeout(() => response.end(), chance.below(30));
    for (const path of paths) await ask('/destinations', { url: `${sink.url}${path}`, eventTypes: ['mailbox.*'] });

    const ids: string[] = [];
    let isOver = false;
    const writers = Array.from({ length: 8 }, async () => {
      for (; !isOver; await sleep(20)) ids.push((await ask('/mailboxes', { name: 'm' })).body.id);
    });
    const times = await again(async () => {
      await sleep(500 + chance.below(1_500));
      if (chance.next() < 0.5) {
        await lab.redis.kill();
        await sleep(chance.below(300));
        await lab.redis.start();
      } else {
        await lab.worker?.end('SIGKILL');
        lab.worker = await lab.startWorker();
      }
    });
    isOver = true;
    await Promise.all(writers);
    await until(async () => {
      const { outbox } = (await ask('/backlog')).body;
      return outbox.UNREAD + outbox.PENDING === 0;
    });

    const rows: Row[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await ask(`/deliveries?limit=200${cursor && `&cursor=${cursor}`}`);
      rows.push(...body.deliveries);
      cursor = body.nextCursor;
    }
    for (const path of paths) {
      const got = new Set<string>(sink.at(path).map(({ body }) => body.data.aggregateId));
      expect([...got].sort()).to.deep.equal([...ids].sort());
    }
    const those = rows.filter(({ state }) => state !== 'SUCCEEDED');
    expect(rows.length - those.length).to.equal(ids.length * paths.length);
    expect(those.filter(({ errorCode }) => errorCode !== 'INTERRUPTED')).to.deep.equal([]);
    expect(sink.received.length).to.be.at.most(rows.length);
    console.log(`      ${times} kills; ${rows.length} attempts, ${those.length} of them cut off`);
    caller.close();
  });
});
