import { expect } from 'chai';
import { Outbox } from './steps.ts';

const guardMs = 25_000;

describe('the dispatcher', () => {
  it('reads the journal in steps, each entry once, for every destination except DISABLED ones', async () => {
    const outbox = await Outbox.create();
    await outbox.register(['mailbox.created']);
    await outbox.world.call('PATCH', `/destinations/${await outbox.register()}`, { state: 'DISABLED' });
    await outbox.register(['budget.*']);
    await outbox.dispatch();
    await outbox.happen(5);
    const named: string[] = [];
    for (const [more, UNREAD, PENDING] of [
      [1, 6, 2],
      [1, 2, 4],
      [0, 0, 5],
      [0, 0, 5],
    ]) {
      const step = await outbox.dispatch(2);
      expect([step.more, step.nextInMs]).to.deep.equal([more, guardMs]);
      expect(await outbox.counts()).to.include({ UNREAD, PENDING });
      for (const [, entryId = '', number] of step.attempts) named.push(`${number} ${entryId}`);
    }
    expect(named).to.have.length(5);
    expect(new Set(named).size).to.equal(5);
  });

  it('stops reading at 10,000 unfinished deliveries of a destination', async () => {
    const outbox = await Outbox.create();
    const key = outbox.key(await outbox.register(['mailbox.created']));
    const others = Array.from({ length: 9_999 }, (_, i) => [`${outbox.start + 1_000_000}`, `1-${i}`]).flat();
    await outbox.world.service.store.zadd(`${key}:unfinished`, ...others);
    await outbox.happen(3);
    for (let i = 0; i < 2; i++) {
      await outbox.dispatch();
      expect(await outbox.counts()).to.include({ UNREAD: 2, PENDING: 1 });
    }
  });

  it('returns up to 16 attempts of a destination at once, 2 of a failing one, and again those whose worker was lost', async () => {
    const outbox = await Outbox.create();
    const { world, start } = outbox;
    const id = await outbox.register(['mailbox.created']);
    await outbox.happen(20);
    const named = async () => (await outbox.dispatch(100)).attempts.length;
    expect([await named(), await named()]).to.deep.equal([16, 0]);
    await world.at(start + guardMs);
    expect([await named(), await named()]).to.deep.equal([16, 0]);
    await world.service.store.hset(outbox.key(id), 'consecutiveFailures', 1);
    await world.at(start + 2 * guardMs);
    expect([await named(), await named()]).to.deep.equal([2, 0]);
  });

  it('is behind by the events that a destination wants, counted in the next 500 of the journal', async () => {
    const outbox = await Outbox.create();
    const { world, start } = outbox;
    const view = async (id: string) => (await world.get(`/destinations/${id}`)).body;
    const [some, none] = [await outbox.register(['mailbox.created']), await outbox.register(['budget.*'])];
    await outbox.dispatch();
    await world.at(start + 1_000);
    await outbox.happen(3);
    await world.mustPost('/scopes', { name: 'unwanted' });
    const nothing = { waiting: 0, unread: 0, unreadIsPartial: false, oldestWaitingAt: null };
    expect(await view(none)).to.include(nothing);
    const first = new Date(start + 1_000).toISOString();
    expect(await view(some)).to.include({ waiting: 0, unread: 3, unreadIsPartial: false, oldestWaitingAt: first });
    const calls = Array.from({ length: 100 }, () => ({ call: 'mailbox.create', name: 'jobs' }));
    for (let n = 0; n < 5; n++) await world.mustPost('/batch', { calls });
    expect(await view(none)).to.include({ ...nothing, unreadIsPartial: true });
    const { unread, unreadIsPartial } = (await world.get('/destinations')).body.destinations.at(-1);
    expect({ unread, unreadIsPartial }).to.deep.equal({ unread: 499, unreadIsPartial: true });
    await world.call('PATCH', `/destinations/${some}`, { state: 'DISABLED' });
    expect(await view(some)).to.include(nothing);
  });

  describe('returns what waits for a destination that is back, whenever it was planned', () => {
    const minutes = 60_000;
    /** A destination whose 40 deliveries have failed, each once. */
    const away = async () => {
      const outbox = await Outbox.create();
      const { world, start } = outbox;
      const id = await outbox.register(['mailbox.created']);
      await outbox.happen(40);
      let failed = 0;
      for (let at = start; failed < 40; at += 1_000) {
        await world.at(at);
        for (const [, entryId = '', number] of (await outbox.dispatch(100)).attempts) {
          if (Number(number) > 1) continue;
          const begun = await outbox.begin(id, entryId);
          await outbox.finish(id, entryId, 1, begun, {
            responseStatus: '503',
            errorCode: 'STATUS',
            pauseMs: 60 * minutes,
          });
          failed++;
        }
      }
      await world.at(start + 10 * minutes);
      expect((await outbox.dispatch(100)).attempts, 'nothing is due').to.deep.equal([]);
      const view = async () => (await world.get(`/destinations/${id}`)).body;
      const seen = await view();
      expect(seen).to.include({ waiting: 40, unread: 0 });
      expect(Date.parse(seen.oldestWaitingAt)).to.equal(start);
      /** Begins and ends what is returned; resolves with how many that were. */
      const step = async (outcome: Parameters<Outbox['finish']>[4] = {}) => {
        const { attempts } = await outbox.dispatch(100);
        for (const [, entryId = '', number] of attempts)
          await outbox.finish(id, entryId, Number(number), await outbox.begin(id, entryId), outcome);
        return attempts.length;
      };
      return { outbox, world, id, view, step };
    };
    const failure = { responseStatus: '500', errorCode: 'STATUS', pauseMs: 60 * minutes };

    it('after a success', async () => {
      const { outbox, world, id, view, step } = await away();
      const [, first = ''] = (await world.service.store.zrange(`${outbox.key(id)}:unfinished`, '0', '1')) as string[];
      await world.service.store.zadd(`${outbox.key(id)}:unfinished`, '1', first);
      const steps = [];
      for (let size = 1; size > 0; steps.push(size)) size = await step();
      expect(steps).to.deep.equal([1, 16, 16, 7, 0]);
      expect(await view()).to.include({ waiting: 0, oldestWaitingAt: null, consecutiveFailures: 0 });
      expect(await outbox.counts()).to.include({ PENDING: 0, DELIVERED: 40 });
    });

    it('by hand: two at a time, all after the first success, none after a failure', async () => {
      const { outbox, world, id, view, step } = await away();
      const { body } = await world.post(`/destinations/${id}/deliver`);
      expect(body).to.deep.equal(await view());
      expect([await step(failure), await step()]).to.deep.equal([2, 0]);
      expect((await view()).consecutiveFailures).to.equal(42);
      await world.mustPost(`/destinations/${id}/deliver`);
      const steps = [];
      for (let size = 1; size > 0; steps.push(size)) size = await step();
      expect(steps).to.deep.equal([2, 16, 16, 6, 0]);
      expect(await outbox.counts()).to.include({ PENDING: 0, DELIVERED: 40 });
      expect((await world.get('/usage')).body.days.at(-1).byCall['destination.deliver']).to.equal(2);
      await world.mustPost(`/destinations/${id}/deliver`);
      expect((await world.get('/usage')).body.days.at(-1).byCall['destination.deliver'], 'nothing waits').to.equal(2);
    });

    it('to others, while workers have the rest', async () => {
      const { outbox, world, id } = await away();
      await world.mustPost(`/destinations/${id}/deliver`);
      await world.service.store.hset(outbox.key(id), 'consecutiveFailures', 0);
      const first = (await outbox.dispatch(100)).attempts.map(([, entryId]) => entryId);
      expect(new Set(first).size).to.equal(16);
      for (const entryId of first.slice(0, 5)) {
        const begun = await outbox.begin(id, entryId ?? '');
        await outbox.finish(id, entryId ?? '', 2, begun);
      }
      const second = (await outbox.dispatch(100)).attempts.map(([, entryId]) => entryId);
      expect(second).to.have.length(5);
      expect(first).to.not.include.members(second);
      expect((await outbox.dispatch(100)).attempts).to.deep.equal([]);
    });
  });
});
