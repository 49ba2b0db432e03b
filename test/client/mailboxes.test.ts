import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  createMuster,
  defineMailboxes,
  GiveUp,
  type Muster,
  NoResult,
  TypedMailbox,
  type Worker,
} from '../../src/clients/typescript/index.ts';
import { World } from '../support/world.ts';

interface Page {
  readonly url: string;
}
interface Text {
  readonly words: number;
}

const mailboxes = defineMailboxes<{ pages: { in: Page; out: Text }; logs: { in: string; out: null } }>({
  pages: { maxAttempts: 2 },
});

/** Never run: it is the compiler that tests it. */
async function compiles(muster: Muster): Promise<void> {
  const pages = mailboxes(muster, 'pages');
  const scopeId = '';
  await pages.send({ scopeId, payload: { url: '' }, priority: 1 });
  // @ts-expect-error another payload
  await pages.send({ scopeId, payload: { address: '' } });
  // @ts-expect-error no such mailbox
  mailboxes(muster, 'words');
  // @ts-expect-error another payload
  pages.worker({}, ({ payload }) => ({ words: payload.address.length }));
  // @ts-expect-error another result
  pages.worker({}, ({ payload }) => payload.url);
  const text: Text = await pages.result('');
  // @ts-expect-error another result
  const url: string = await pages.result('');
  for await (const { payload, result } of pages.all({ state: 'ACKED' })) [payload.url, result?.words, text, url];
  await mailboxes(muster, 'logs').send({ scopeId, payload: 'text' });
  const [batched] = await muster.batch([pages.call.send({ scopeId, payload: { url: '' } }, { idempotencyKey: '' })]);
  if (batched.ok) batched.answer.id.charAt(0);
  // @ts-expect-error another payload
  pages.call.send({ scopeId, payload: { address: '' } });
  const group = await pages.createGroup({ condition: 'ALL_TERMINAL' });
  await group.submit({ taskKey: '', input: { url: '' }, priority: 1 });
  // @ts-expect-error another input
  await group.submit({ taskKey: '', input: { address: '' } });
  // @ts-expect-error an input is needed
  await group.submit({ taskKey: '' });
  // @ts-expect-error another input
  group.call.submit({ taskKey: '', input: 1 });
  (await group.waitDecided({ maxSeconds: 1 })).members[0]?.outcome?.words.toFixed();
  // @ts-expect-error a Text has no url
  await group.judge(({ outcome }) => outcome.url === '');
  const { sent } = await muster.atomic((t) => {
    const made = pages.within(t).createGroup({ condition: 'FIRST_ACCEPTED' });
    made.submit({ taskKey: '', input: { url: '' } });
    // @ts-expect-error another input
    made.submit({ taskKey: '', input: 'text' });
    // @ts-expect-error another input
    group.within(t).submit({ taskKey: '', input: 'text' });
    // @ts-expect-error another payload
    pages.within(t).send({ scopeId: made.groupId, payload: 'text' });
    return { sent: pages.within(t).send({ scopeId, payload: { url: '' }, after: [made.created] }) };
  });
  sent.id.charAt(0);
  await pages.schedule({ name: '', scopeId, everySeconds: 60, payload: { url: '' } });
  // @ts-expect-error another payload
  await pages.schedule({ name: '', scopeId, everySeconds: 60, payload: 'text' });
  // @ts-expect-error no such field
  defineMailboxes<{ pages: { in: 1; out: 2 } }>({ pages: { colour: 'red' } });
  // @ts-expect-error not of the registry
  defineMailboxes<{ pages: { in: 1; out: 2 } }>({ words: {} });
}
void compiles;

describe('mailboxes with types', () => {
  let muster: Muster;
  const scopeId = randomUUID();
  const workers: Pick<Worker, 'close'>[] = [];
  before(async () => {
    const world = await World.create();
    muster = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
  });
  after(() => Promise.all(workers.map((worker) => worker.close(0))));

  it('are made once as the registry says, by whoever comes first, and send, work, answer and list', async () => {
    const pages = mailboxes(muster, 'pages');
    const { id, mailboxId } = await pages.send({ scopeId, payload: { url: 'https://a' } });
    expect(await mailboxes(muster, 'pages').id()).to.equal(mailboxId);
    expect((await muster.mailbox.view({ mailboxId })).maxAttempts).to.equal(2);
    const worker = pages.worker({ closeOnSignals: false }, ({ payload }) => {
      if (payload.url === '') throw new GiveUp('there is no address');
      return { words: payload.url.length };
    });
    workers.push(worker);
    expect(await worker.mailboxId).to.equal(mailboxId);
    expect(await pages.result(id)).to.deep.equal({ words: 9 });
    const bad = await pages.send({ scopeId, payload: { url: '' } });
    const error = await pages.result(bad.id).catch((thrown) => thrown);
    expect(error).to.be.instanceOf(NoResult);
    expect([error.message, error.record.state]).to.deep.equal([
      `message ${bad.id} is REJECTED: there is no address`,
      'REJECTED',
    ]);
    const urls: string[] = [];
    for await (const { payload } of pages.all({ state: 'ACKED' })) urls.push(payload.url);
    expect(urls).to.deep.equal(['https://a']);
  });

  it('reach batches, atomic batches, groups and schedules, and find their id when a batch is sent', async () => {
    const name = `chapters ${randomUUID()}`;
    const chapters = new TypedMailbox<Page, Text>(muster, name);
    const run = randomUUID();
    const [first] = await muster.batch([chapters.call.send({ scopeId: run, payload: { url: 'a' } })]);
    if (!first.ok) throw first.error;
    expect(first.answer.mailboxId).to.equal(await chapters.id());
    const others = new TypedMailbox<Page, Text>(muster, `${name} others`);
    const { made, sent } = await muster.atomic((t) => {
      const group = chapters.within(t).createGroup({ condition: 'ALL_TERMINAL' });
      group.submit({ taskKey: 'one', input: { url: 'task' } });
      group.seal();
      const sent = others.within(t).send({ scopeId: run, payload: { url: 'b' } }, { expect: { state: 'READY' } });
      return { made: group.created, sent };
    });
    expect(sent.mailboxId).to.equal(await others.id());
    const group = await chapters.createGroup({ condition: 'ALL_TERMINAL', parentScopeId: run });
    await group.submit({ taskKey: 'two', input: { url: 'two' } });
    const [batched] = await muster.batch([group.call.submit({ taskKey: 'three', input: { url: 'three' } })]);
    expect(batched.ok).to.equal(true);
    await muster.atomic((t) => group.within(t).submit({ taskKey: 'four', input: { url: 'four' } }));
    await group.seal();
    workers.push(
      chapters.worker({ closeOnSignals: false, concurrency: 4 }, ({ payload }, { finish }) => {
        if (payload.url !== 'a') return { words: payload.url.length };
        // The plan of a completion finds the id as well.
        const late = new TypedMailbox<Page, Text>(muster, `${name} late`);
        return finish({ words: 1 }, (t) => late.within(t).send({ scopeId: run, payload: { url: 'late' } }));
      }),
    );
    const outcomes = async (of: typeof group) =>
      (await of.waitDecided()).members.map(({ taskKey, outcome }) => [taskKey, outcome?.words]);
    expect(await outcomes(group)).to.have.deep.members([
      ['two', 3],
      ['three', 5],
      ['four', 4],
    ]);
    expect(await outcomes(chapters.group(made.groupId))).to.deep.equal([['one', 4]]);
    await chapters.result(first.answer.id);
    const late = [];
    for await (const { payload } of new TypedMailbox<Page, Text>(muster, `${name} late`).all()) late.push(payload.url);
    expect(late).to.deep.equal(['late']);
    const asked = { name, scopeId: run, everySeconds: 3600, payload: { url: 'hourly' } };
    const schedule = await chapters.schedule(asked);
    expect([schedule.mailboxId, schedule.payload.url]).to.deep.equal([await chapters.id(), 'hourly']);
    expect((await chapters.schedule({ ...asked, payload: { url: 'other' } })).id).to.equal(schedule.id);
  });

  it('find a mailbox again that was deleted and created under its name', async () => {
    const gone = new TypedMailbox<Page, Text>(muster, `gone ${randomUUID()}`);
    const mailboxId = await gone.id();
    await muster.mailbox.delete({ mailboxId });
    const sent = await gone.send({ scopeId, payload: { url: 'a' } });
    expect(sent.mailboxId).to.not.equal(mailboxId);
    expect(await gone.id()).to.equal(sent.mailboxId);
  });

  it('stop waiting for a result when they are told', async () => {
    const logs = mailboxes(muster, 'logs');
    const { id } = await logs.send({ scopeId, payload: 'text' });
    const stop = AbortSignal.abort(new Error('enough'));
    expect(await logs.result(id, { signal: stop }).catch(({ message }) => message)).to.equal('enough');
  });

  it('look for their id again after a failure', async () => {
    let calls = 0;
    const away = createMuster({
      ...{ url: 'http://muster.test', key: 'mk_test_none', spaceId: randomUUID(), attempts: 1 },
      fetch: async () => {
        calls++;
        throw new TypeError('fetch failed');
      },
    });
    const logs = mailboxes(away, 'logs');
    for (const count of [1, 2]) {
      expect(await logs.id().catch(({ code }) => code)).to.equal('UNREACHABLE');
      expect(calls).to.equal(count);
    }
  });
});
