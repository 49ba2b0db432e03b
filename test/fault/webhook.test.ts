import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { channelOf } from '../../src/primitives/space/keys.ts';
import type { MusterService } from '../../src/service.ts';
import { forkFile } from '../support/fork.ts';
import { Sink } from '../support/sink.ts';
import { redisUrl } from '../support/store.ts';
import { delivering } from '../support/webhooks.ts';
import { World } from '../support/world.ts';

const worker = fileURLToPath(new URL('../support/worker.ts', import.meta.url));
const events = 340;

describe('a worker that is killed at random moments', () => {
  let service: MusterService;
  let sink: Sink;
  let child: ChildProcess;

  async function start(): Promise<void> {
    child = forkFile(worker, [await redisUrl()]);
    await once(child, 'message');
  }

  it('every event reaches every destination that wants it, each attempt is recorded, none is lost', async function () {
    this.timeout(300_000);
    service = await delivering({ role: 'api' });
    sink = await Sink.start();
    const world = await World.create({ on: service });
    // A third of all requests fail, but no delivery so often that these and the kills use up its attempts.
    const failures = new Map<string, number>();
    sink.answer = (response, { path, headers }) => {
      const name = `${path} ${headers['webhook-id']}`;
      const failed = failures.get(name) ?? 0;
      if (failed < 2 && Math.random() < 1 / 3) {
        failures.set(name, failed + 1);
        response.writeHead(500).end();
      } else globalThis.setTimeout(() => response.end(), Math.random() * 20);
    };
    let now = Date.now();
    await world.at(now);
    const paths = ['/a', '/b', '/c'];
    for (const path of paths) {
      const eventTypes = path === '/c' ? ['limits.*', 'mailbox.*'] : [];
      await world.mustPost('/destinations', { url: `${sink.url}${path}`, eventTypes });
    }
    await start();
    let sent = 0;
    for (let kills = 0; ; kills++) {
      for (let i = 0; i < 30 && sent < events; i++, sent++) await world.mustPost('/mailboxes', { name: `m${sent}` });
      // In the middle of the work, wherever that is.
      await Promise.race([sink.got(sink.at('/a').length + Math.ceil(Math.random() * 20), '/a'), setTimeout(1_500)]);
      if (kills < 12) {
        child.kill('SIGKILL');
        await once(child, 'exit');
        await start();
      }
      // Past every guard and every pause of the schedule's beginning.
      now += 30 * 60_000;
      await world.at(now);
      // The worker's own clock has not moved.
      await service.store.spublish(channelOf(world.org, world.spaceId), '');
      const { outbox } = (await world.get('/backlog')).body;
      if (sent === events && kills >= 12 && outbox.UNREAD === 0 && outbox.PENDING === 0) break;
    }
    child.disconnect();
    await once(child, 'exit');

    const { outbox } = (await world.get('/backlog')).body;
    expect(outbox).to.deep.equal({ UNREAD: 0, PENDING: 0, DELIVERED: events * paths.length, EXHAUSTED: 0 });
    const rows: { destinationId: string; eventId: string; attempt: number; state: string; errorCode: string | null }[] =
      [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await world.get(`/deliveries?limit=200${cursor && `&cursor=${cursor}`}`);
      rows.push(...body.deliveries);
      cursor = body.nextCursor;
    }
    const { destinations } = (await world.get('/destinations')).body;
    const wanted = (await allEvents(world))
      .filter(({ type }) => type === 'mailbox.created')
      .map(({ eventId }) => eventId);
    expect(wanted).to.have.length(events);
    expect(rows.some(({ errorCode }) => errorCode === 'INTERRUPTED')).to.equal(true);
    for (const { id, url } of destinations as { id: string; url: string }[]) {
      const path = new URL(url).pathname;
      const got = sink.at(path).map(({ headers }) => String(headers['webhook-id']));
      expect([...new Set(got)].sort()).to.deep.equal([...wanted].sort());
      for (const eventId of wanted) {
        const attempts = rows.filter((row) => row.destinationId === id && row.eventId === eventId);
        const numbers = attempts.map(({ attempt }) => attempt).sort((one, other) => one - other);
        expect(numbers).to.deep.equal(numbers.map((_, index) => index + 1));
        expect(attempts.filter(({ state }) => state === 'SUCCEEDED')).to.have.length(1);
        expect(got.filter((one) => one === eventId).length).to.be.at.most(attempts.length);
      }
    }
    const interrupted = rows.filter(({ errorCode }) => errorCode === 'INTERRUPTED').length;
    console.log(`      ${rows.length} attempts, ${interrupted} of them cut off by a kill`);
    await sink.stop();
    await service.stop();
  });
});

async function allEvents(world: World): Promise<{ eventId: string; type: string }[]> {
  const all: { eventId: string; type: string }[] = [];
  for (let query = ''; ; ) {
    const { body } = await world.get(`/events?limit=500${query}`);
    if (body.events.length === 0) return all;
    all.push(...body.events);
    query = `&cursor=${body.nextCursor}`;
  }
}
