import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { until } from '../../support/processes.ts';
import { slowProxy } from '../../support/slow-proxy.ts';
import { codeOf, World } from '../../support/world.ts';
import { hosts, type WorkerHost } from './workers.ts';

/** How many workers are closed, so many at a time. */
const [closes, atOnce] = process.env['LONG'] ? [200, 20] : [12, 6];
const maxOffsetMs = 25;
const delayMs = 30;

describe('A worker that closes at the moment of a send', () => {
  let world: World;
  let proxy: Awaited<ReturnType<typeof slowProxy>>;
  before(async () => {
    // All messages stay in the space.
    world = await World.create({ limits: { maxBacklog: 10_000 } });
    proxy = await slowProxy(world.url, delayMs, { isBlind: true });
  });
  after(() => proxy.close());

  /** Sends a message to an idle worker and closes the worker, one of them this much later. Returns the message as it then is. */
  async function closeAtSend(host: WorkerHost, url: string, offsetMs: number) {
    const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'jobs' });
    const worker = await host.start({ mailboxId, url, options: { concurrency: 4 } });
    const isHeld = async () => (await world.get(`/ops/receivers?mailboxId=${mailboxId}`)).body.receivers.length > 0;
    await until(isHeld);
    const send = async () => {
      await sleep(Math.max(0, -offsetMs));
      return world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId: randomUUID(), payload: 1 });
    };
    const [{ id }] = await Promise.all([send(), sleep(Math.max(0, offsetMs)).then(() => worker.close())]);
    const reply = await world.get(`/messages/${id}`);
    if (reply.status !== 200) return codeOf(reply);
    const { state, attempts } = reply.body;
    if (state !== 'READY') return `${state} after ${attempts}`;
    const next = await world.post(`/mailboxes/${mailboxId}/recv`, { scopeId: '*', holder: 'next', holderSession: '1' });
    return `${state} after ${attempts}, received next as attempt ${next.body?.attempt ?? codeOf(next)}`;
  }

  for (const [client, start] of Object.entries(hosts))
    for (const way of ['directly', 'behind a proxy'])
      it(`leaves no message claimed, and uses up no attempt: ${client}, ${way}`, async () => {
        const host = await start(world);
        const found = new Map<string, number>();
        const offsets = Array.from({ length: closes }, (_, n) => (n / (closes - 1)) * 2 * maxOffsetMs - maxOffsetMs);
        const one = async (): Promise<void> => {
          for (let offsetMs = offsets.pop(); offsetMs !== undefined; offsetMs = offsets.pop()) {
            const end = await closeAtSend(host, way === 'directly' ? world.url : proxy.url, offsetMs);
            found.set(end, (found.get(end) ?? 0) + 1);
          }
        };
        await Promise.all(Array.from({ length: atOnce }, one));
        await host.stop();
        if (process.env['LONG']) console.log(client, way, found);
        const good = ['READY after 0, received next as attempt 1', 'ACKED after 1'];
        expect([...found.keys()].filter((end) => !good.includes(end))).to.deep.equal([]);
      });
});
