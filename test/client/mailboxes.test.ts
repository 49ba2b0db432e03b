import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  createMuster,
  defineMailboxes,
  GiveUp,
  type Muster,
  NoResult,
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
