import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { MusterService } from '../../src/service.ts';
import { overrides, World } from '../support/world.ts';
import { Metered, scrape } from './metered.ts';

const scopeId = randomUUID();
const claim = { scopeId, holder: 'agent', holderSession: 's' };

describe('GET /metrics on work', () => {
  let metered: Metered;
  let service: MusterService;
  before(async () => {
    metered = await Metered.start();
    service = await metered.service({ role: 'api', overrides });
  });
  after(() => metered.stop());

  it('counts what happens to messages, as the figures of their spaces do, and times how long they waited', async () => {
    const timed = await World.create({ on: service });
    const names = ['sent', 'claimed', 'acked', 'rejected', 'failed', 'expired', 'cancelled'] as const;
    const read = async (): Promise<number[]> => {
      const now = await scrape(service);
      expect(now.types.get('muster_messages_total')).to.equal('counter');
      return [
        ...names.map((event) => now.value('muster_messages_total', { event }) ?? Number.NaN),
        now.value('muster_message_wait_seconds_count') ?? Number.NaN,
        now.value('muster_message_wait_seconds_sum') ?? Number.NaN,
      ];
    };
    const before = await read();
    const { id } = await timed.mustPost('/mailboxes', { name: 'timed' });
    const start = Date.now();
    await timed.at(start);
    for (const more of [{}, {}, { maxAttempts: 2 }, {}])
      await timed.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload: 1, ...more });
    await timed.at(start + 2_000);
    const received = await timed.mustPost(`/mailboxes/${id}/recv`, { ...claim, max: 3 });
    expect(received.messages[0]).not.to.have.property('place');
    const [one, two, three] = received.messages;
    await timed.at(start + 5_000);
    const key = { 'Idempotency-Key': randomUUID() };
    for (let again = 0; again < 2; again++)
      await timed.mustPost(`/messages/${one.id}/complete`, { token: one.token }, key);
    // The natural replay has ended nothing either.
    await timed.mustPost(`/messages/${one.id}/complete`, { token: one.token });
    await timed.mustPost(`/messages/${two.id}/nack`, { token: two.token, retry: false });
    await timed.mustPost(`/messages/${three.id}/nack`, { token: three.token, retry: true });
    await timed.at(start + 6_000);
    await timed.mustPost(`/messages/${(await timed.mustPost(`/mailboxes/${id}/recv`, claim)).id}/cancel`);
    const last = await timed.mustPost(`/mailboxes/${id}/recv`, claim);
    expect(last.id).to.equal(three.id);
    await timed.at(start + 10_000);
    await timed.mustPost(`/messages/${last.id}/nack`, { token: last.token, retry: true });
    const after = await read();
    const added = after.map((value, i) => Math.round((value - (before[i] as number)) * 1000) / 1000);
    // Three waited for 2 s, one for 6 s, and the one that came back at 5 s for 1 s.
    expect(added).to.deep.equal([4, 5, 1, 1, 1, 0, 1, 5, 13]);
    const { body } = await timed.get('/figures');
    const figures = names.map((name) =>
      body.tens.reduce((sum: number, period: Record<string, number>) => sum + (period[name] ?? 0), 0),
    );
    expect(figures).to.deep.equal(added.slice(0, 7));
  });

  it('times how long claims lasted, each once, by what came of them', async () => {
    const timed = await World.create({ on: service });
    const { id } = await timed.mustPost('/mailboxes', { name: 'timed' });
    const start = Date.now();
    await timed.at(start);
    const send = { call: 'message.send', mailboxId: id, scopeId, payload: 1 };
    const before = await scrape(service);
    const claims: { id: string; token: string }[] = [];
    for (let hundred = 0; hundred < 2; hundred++) {
      await timed.mustPost('/batch', { calls: Array.from({ length: 100 }, () => send) });
      claims.push(...(await timed.mustPost(`/mailboxes/${id}/recv`, { ...claim, max: 100 })).messages);
    }
    const ended = async (seconds: number, some: typeof claims, call: object, atomic = false) => {
      await timed.at(start + seconds * 1000);
      const calls = some.map(({ id: messageId, token }) => ({ messageId, token, ...call }));
      await timed.mustPost('/batch', { calls, atomic });
    };
    await ended(3, claims.slice(0, 100), { call: 'message.complete' });
    // What has ended before is not timed again.
    await ended(4, claims.slice(0, 100), { call: 'message.complete' });
    await ended(5, claims.slice(100, 150), { call: 'message.nack', retry: false });
    await ended(6, claims.slice(150, 175), { call: 'message.nack', retry: true });
    await ended(6, claims.slice(175), { call: 'message.nack', retry: true }, true);
    const after = await scrape(service);
    const runs = (outcome: string) =>
      ['count', 'sum'].map((what) => {
        const [then, now] = [before, after].map((one) => one.value(`muster_message_run_seconds_${what}`, { outcome }));
        return (now ?? Number.NaN) - (then ?? Number.NaN);
      });
    expect(runs('acked')).to.deep.equal([100, 300]);
    expect(runs('rejected')).to.deep.equal([50, 250]);
    expect(runs('retried')).to.deep.equal([50, 300]);
  });

  it('shows for how long a webhook destination has done nothing but fail', async () => {
    const other = await World.create({ on: service });
    const seconds = async () => (await scrape(service)).value('muster_failing_destination_seconds') ?? Number.NaN;
    expect(await seconds()).to.equal(0);
    const { id } = await other.mustPost('/destinations', { url: 'https://example.com/', eventTypes: [] });
    expect(await seconds()).to.equal(0);
    const key = `${other.prefix}:destination:${id}`;
    await service.store.hset(key, { failingSince: Date.now() - 700_000, consecutiveFailures: 4 });
    expect(await seconds()).to.be.within(700, 900);
    const { body } = await other.get(`/destinations/${id}`);
    expect(Date.parse(body.failingSince)).to.be.within(Date.now() - 900_000, Date.now() - 700_000);
    await service.store.hset(key, { state: 'DISABLED' });
    expect(await seconds()).to.equal(0);
  });
});
