import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { figureNames } from '../../../src/engine/metrics/message-figures.ts';
import { expectAgreement } from '../../support/agree.ts';
import { Traffic } from '../../support/traffic.ts';
import { codeOf, World } from '../../support/world.ts';
import { Queue } from './queue.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
type Counts = Partial<Record<(typeof figureNames)[number], number>>;
type Period = Record<(typeof figureNames)[number], number> & { readonly at: string };

const read = async (world: World, mailboxId?: string): Promise<{ asOf: string; minutes: Period[]; tens: Period[] }> => {
  const { status, body } = await world.get(`/figures${mailboxId === undefined ? '' : `?mailboxId=${mailboxId}`}`);
  expect(status).to.equal(200);
  return body;
};

/** The periods in which something was counted, without zeros, by their moments. */
const busy = (periods: readonly Period[]): Record<string, Counts> =>
  Object.fromEntries(
    periods.flatMap((period) => {
      const counts = figureNames.flatMap((name) => (period[name] === 0 ? [] : [[name, period[name]]]));
      return counts.length === 0 ? [] : [[period.at, Object.fromEntries(counts)]];
    }),
  );

const iso = (at: number): string => new Date(at).toISOString();
/** The start of an hour, so that tens are easy to tell. */
const start = Math.floor(Date.now() / 3_600_000) * 3_600_000;

async function queueAt(moment: number): Promise<Queue> {
  const world = await World.create();
  await world.at(moment);
  return Queue.create({}, world);
}

describe('GET /figures', () => {
  it('answers 60 minutes and 144 times ten minutes of a new space, oldest first, with zeros', async () => {
    const { world } = await queueAt(start + 25 * minute + 1_234);
    const { asOf, minutes, tens } = await read(world);
    expect(asOf).to.equal(iso(start + 25 * minute + 1_234));
    expect(minutes.map(({ at }) => at)).to.deep.equal(
      Array.from({ length: 60 }, (_, n) => iso(start + (n - 34) * minute)),
    );
    expect(tens.map(({ at }) => at)).to.deep.equal(
      Array.from({ length: 144 }, (_, n) => iso(start + (n - 141) * 10 * minute)),
    );
    expect([busy(minutes), busy(tens)]).to.deep.equal([{}, {}]);
  });

  it('counts sends, claims and every end in the minute in which they happen', async () => {
    const queue = await queueAt(start);
    const { world } = queue;
    for (let n = 0; n < 5; n++) await queue.sent();
    await queue.sent({ maxAttempts: 1 });
    await queue.sent({ deadline: iso(start + 3 * minute) });
    await world.at(start + minute + 5_000);
    const claims = [await queue.claim(), await queue.claim(), await queue.claim()];
    await queue.act('complete', claims[0]);
    await queue.act('nack', claims[1], { retry: false });
    await queue.act('nack', claims[2], { retry: true });
    await world.at(start + 3 * minute + 1);
    // Its lease and the deadline are over, and the call has both swept.
    await queue.sent();
    expect(busy((await read(world)).minutes)).to.deep.equal({
      [iso(start)]: { sent: 7 },
      [iso(start + minute)]: { claimed: 3, acked: 1, rejected: 1 },
      [iso(start + 3 * minute)]: { sent: 1, expired: 1 },
    });
    const last = await queue.claim();
    expect(last).to.include({ attempt: 1 });
    await world.mustPost(`/messages/${last.id}/cancel`);
    await world.mustPost(`/messages/${last.id}/requeue`);
    const only = await queue.claim();
    await queue.act('nack', await queue.claim(), { retry: true });
    await queue.act('complete', only);
    await world.mustPost(`/mailboxes/${queue.id}/purge`);
    const { minutes, tens } = await read(world, queue.id);
    const all = { sent: 8, claimed: 6, acked: 2, rejected: 1, expired: 1 };
    const [[at, counted] = ['', {} as Counts], ...more] = Object.entries(busy(tens));
    expect([at, more]).to.deep.equal([iso(start), []]);
    expect(counted).to.include(all);
    const { failed = 0, cancelled = 0 } = counted;
    // The others failed or were cancelled: cancelled by hand, requeued, and purged.
    expect(8 + 1 - 2 - 1 - 1 - failed - cancelled).to.equal(0);
    expect(failed).to.equal(1);
    expect(busy((await read(world)).minutes)).to.deep.equal(busy(minutes));
    await expectAgreement(world);
  });

  it('counts each mailbox by itself, and the space all of them, a deleted one too', async () => {
    const queue = await queueAt(start);
    const { world } = queue;
    const other = await Queue.create({}, world);
    await queue.sent();
    await queue.sent();
    await other.sent();
    const { id } = await other.claim();
    await world.mustPost(`/messages/${id}/cancel`);
    expect(busy((await read(world, queue.id)).minutes)).to.deep.equal({ [iso(start)]: { sent: 2 } });
    const ofOther = { sent: 1, claimed: 1, cancelled: 1 };
    expect(busy((await read(world, other.id)).minutes)).to.deep.equal({ [iso(start)]: ofOther });
    expect(busy((await read(world)).tens)).to.deep.equal({ [iso(start)]: { ...ofOther, sent: 3 } });
    await world.at(start + minute);
    await other.sent().then((sent) => world.mustPost(`/messages/${sent}/cancel`));
    expect((await world.call('DELETE', `/mailboxes/${other.id}`)).status).to.equal(204);
    expect(codeOf(await world.get(`/figures?mailboxId=${other.id}`))).to.equal('404 MAILBOX_NOT_FOUND');
    expect(await world.service.store.keys(`${world.prefix}:mailbox:${other.id}*figures`)).to.deep.equal([]);
    expect(busy((await read(world)).minutes)).to.deep.equal({
      [iso(start)]: { ...ofOther, sent: 3 },
      [iso(start + minute)]: { sent: 1, cancelled: 1 },
    });
  });

  it('forgets minutes after an hour and tens after a day, whether or not anything happens meanwhile', async () => {
    const queue = await queueAt(start);
    const { world } = queue;
    const at = async (moment: number) => {
      await world.at(moment);
      const { minutes, tens } = await read(world, queue.id);
      return [busy(minutes), busy(tens)];
    };
    await queue.sent();
    const [one, tenOne] = [{ [iso(start)]: { sent: 1 } }, { [iso(start)]: { sent: 1 } }];
    expect(await at(start + 59 * minute)).to.deep.equal([one, tenOne]);
    expect(await at(start + 60 * minute)).to.deep.equal([{}, tenOne]);
    // The places of the first minute and ten minutes are taken again.
    await queue.sent();
    const anHourLater = { [iso(start + 60 * minute)]: { sent: 1 } };
    expect(await at(start + 61 * minute)).to.deep.equal([anHourLater, { ...tenOne, ...anHourLater }]);
    await queue.sent();
    expect(await at(start + day - 1)).to.deep.equal([{}, { ...tenOne, [iso(start + 60 * minute)]: { sent: 2 } }]);
    await world.at(start + day);
    await queue.sent();
    const nextDay = { [iso(start + day)]: { sent: 1 } };
    expect(await at(start + day + minute)).to.deep.equal([
      nextDay,
      { [iso(start + 60 * minute)]: { sent: 2 }, ...nextDay },
    ]);
    await queue.sent();
    expect(await at(start + 9 * day)).to.deep.equal([{}, {}]);
    await queue.sent();
    expect(await at(start + 9 * day)).to.deep.equal([
      { [iso(start + 9 * day)]: { sent: 1 } },
      { [iso(start + 9 * day)]: { sent: 1 } },
    ]);
  });

  it('takes a bounded place, however long a mailbox works', async () => {
    const queue = await queueAt(start);
    for (let n = 0; n < 200; n++) {
      await queue.world.at(start + n * 17 * minute);
      await queue.sent();
    }
    const { store } = queue.world.service;
    const key = `${queue.world.prefix}:mailbox:${queue.id}:figures`;
    expect(await store.hlen(key)).to.be.at.most(60 + 144 + 1);
    // Half of that where the store packs hashes of that many fields.
    expect(await store.memory('USAGE', key, 'SAMPLES', 0)).to.be.below(16_384);
    expect((await read(queue.world, queue.id)).tens.reduce((sum, { sent }) => sum + sent, 0)).to.equal(85);
  });

  it('counts results, batches, groups, schedules, purges and stopped runs like any other, and refused calls not', async () => {
    const world = await World.create();
    await world.at(start);
    const traffic = await Traffic.on(world);
    await traffic.messages(iso(start + 2 * minute));
    await traffic.group();
    await traffic.stopped();
    await world.at(start + minute);
    const scopeId = randomUUID();
    const send = { call: 'message.send', mailboxId: traffic.work, scopeId, payload: 1 };
    const refused = { ...send, payload: 'x'.repeat(70_000) };
    const { body } = await world.post('/batch', { calls: [send, refused, send, send] });
    expect(body.results.map(({ status }: { status: number }) => status)).to.deep.equal([201, 413, 201, 201]);
    expect(busy((await read(world)).minutes)[iso(start + minute)]).to.deep.equal({ sent: 3 });
    await world.at(start + 2 * minute);
    await traffic.complete(await traffic.claim(scopeId), { payload: 1, mailboxId: traffic.inbox, scopeId });
    const { cancelled } = await world.mustPost(`/mailboxes/${traffic.work}/purge`);
    const { minutes } = await read(world);
    expect(minutes.at(-1)).to.include({ sent: 1, claimed: 1, acked: 1, cancelled });
    await expectAgreement(world);
  });

  it('refuses an unknown mailbox, a malformed id and other parameters', async () => {
    const { world } = await queueAt(start);
    const code = async (query: string) => codeOf(await world.get(`/figures?${query}`));
    expect(await code(`mailboxId=${randomUUID()}`)).to.equal('404 MAILBOX_NOT_FOUND');
    expect(await code('mailboxId=x')).to.equal('400 VALIDATION_FAILED');
    expect(await code('minutes=5')).to.equal('400 VALIDATION_FAILED');
  });
});
