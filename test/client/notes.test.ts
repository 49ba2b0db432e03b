import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ClaimLost, createMuster, type Muster, MusterError, Run, Worker } from '../../src/clients/typescript/index.ts';
import { until } from '../support/processes.ts';
import { World } from '../support/world.ts';

describe('the notes of the typed client', () => {
  let world: World;
  let muster: Muster;
  let run: Run;
  const workers: Worker<never, never>[] = [];
  before(async () => {
    world = await World.create();
    muster = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
  });
  beforeEach(() => {
    run = new Run(muster, randomUUID());
  });
  afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.close(0))));

  function start(mailboxId: string, handler: ConstructorParameters<typeof Worker>[2], options: object = {}): Worker {
    const worker = new Worker(muster, { mailbox: { mailboxId }, closeOnSignals: false, ...options } as never, handler);
    workers.push(worker as never);
    return worker;
  }
  const mailbox = async () => (await muster.mailbox.create({ name: randomUUID() })).id;
  const send = async (mailboxId: string, payload: unknown = null) =>
    (await muster.message.send({ mailboxId, scopeId: run.scopeId, payload })).id;
  const refusal = async (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'none',
      (error) => (error instanceof MusterError ? error.code : String(error)),
    );

  it('are put, read, listed and deleted', async () => {
    const note = run.note<{ n: number }>('plan/α 1');
    expect([await note.get(), await note.view()]).to.deep.equal([undefined, undefined]);
    expect(await note.put({ n: 1 }, { ifVersion: 0 })).to.include({ version: 1, holder: null });
    expect(await refusal(note.put({ n: 2 }, { ifVersion: 0 }))).to.equal('VERSION_CONFLICT');
    expect(await note.view()).to.deep.include({ key: 'plan/α 1', value: { n: 1 }, version: 1 });
    for (let n = 0; n < 3; n++) await run.note<number | null>(`list/${n}`).put(n === 0 ? null : n);
    const listed: unknown[] = [];
    for await (const { key, value } of run.notes('list/')) listed.push([key, value]);
    expect(listed).to.deep.equal([
      ['list/0', null],
      ['list/1', 1],
      ['list/2', 2],
    ]);
    expect(await refusal(note.delete({ ifVersion: 9 }))).to.equal('VERSION_CONFLICT');
    await note.delete({ ifVersion: 1 });
    await note.delete();
    expect(await note.get()).to.equal(undefined);
  });

  it('are updated by many at once, none of whose changes is lost', async () => {
    const note = run.note<number>('sum');
    let computed = 0;
    await Promise.all(
      Array.from({ length: 30 }, () =>
        note.update((sum = 0) => {
          computed++;
          return sum + 1;
        }),
      ),
    );
    expect(await note.get()).to.equal(30);
    expect(computed).to.be.at.least(30);
    expect(await note.update(async (sum) => (sum ?? 0) + 1)).to.equal(31);
  });

  it('are waited for: until they are made, changed, deleted, or the signal aborts', async () => {
    const note = run.note<string>('state');
    const made = note.changed(0);
    await until(() => Promise.resolve(world.service.wake.reads === 1));
    await note.put('a');
    expect(await made).to.include({ value: 'a', version: 1 });
    const gone = note.changed(1);
    await until(() => Promise.resolve(world.service.wake.reads === 1));
    await note.delete();
    expect(await gone).to.equal(undefined);
    const controller = new AbortController();
    const aborted = note.changed(0, { signal: controller.signal });
    await until(() => Promise.resolve(world.service.wake.reads === 1));
    controller.abort(new Error('enough'));
    expect(await refusal(aborted)).to.equal('Error: enough');
  });

  it('a handler puts notes of its run under its claim', async () => {
    const mailboxId = await mailbox();
    const lost: unknown[] = [];
    const worker = start(
      mailboxId,
      async ({ id }, { run: own }) => {
        await own.note<string[]>('done').update((done = []) => [...done, id]);
        await muster.message.cancel({ messageId: id });
        lost.push(await refusal(own.note('late').put(1)));
      },
      { holder: 'ann', concurrency: 1 },
    );
    const id = await send(mailboxId);
    await until(() => Promise.resolve(lost.length === 1));
    expect(await run.note('done').view()).to.deep.include({ value: [id], holder: 'ann' });
    expect(lost).to.deep.equal(['CLAIM_LOST']);
    expect(await run.note('late').get()).to.equal(undefined);
    await worker.close(0);
  });

  it("a handler's notes refuse what is no JSON, and its wait for one ends when its signal aborts", async () => {
    const said: string[] = [];
    const mailboxId = await mailbox();
    await send(mailboxId);
    start(mailboxId, async (_, { run: own }) => {
      said.push(await refusal(own.note<unknown>('odd').put(1n)));
      const controller = new AbortController();
      const waiting = refusal(own.note('state').changed(0, { signal: controller.signal }));
      await until(() => Promise.resolve(world.service.wake.reads === 1));
      controller.abort(new Error('enough'));
      said.push(await waiting);
    });
    await until(() => Promise.resolve(said.length === 2));
    expect(said[0]).to.match(/^TypeError: .*BigInt/);
    expect(said[1]).to.equal('Error: enough');
  });

  it('keep the value of a step for the next attempts: once does it once, for each message by itself', async () => {
    const mailboxId = await mailbox();
    const steps: string[] = [];
    const results = new Map<string, unknown>();
    start(
      mailboxId,
      async ({ id, attempt, payload }, { once }) => {
        const fetched = await once('fetch', () => {
          steps.push(`${payload} fetch ${attempt}`);
          return { at: new Date(0), n: attempt };
        });
        if (attempt === 1) throw new Error('the disk is full');
        const [draft, same] = await Promise.all(
          [1, 2].map((n) => once('draft', async () => `${payload} draft ${attempt} ${n}`)),
        );
        results.set(id, [fetched, draft, same, await once('none', () => undefined)]);
      },
      { concurrency: 4 },
    );
    const [a, b] = [await send(mailboxId, 'a'), await send(mailboxId, 'b')];
    await until(() => Promise.resolve(results.size === 2));
    expect(steps.toSorted()).to.deep.equal(['a fetch 1', 'b fetch 1']);
    const fetched = { at: '1970-01-01T00:00:00.000Z', n: 1 };
    expect(results.get(a)).to.deep.equal([fetched, 'a draft 2 1', 'a draft 2 1', null]);
    expect(results.get(b)).to.deep.equal([fetched, 'b draft 2 1', 'b draft 2 1', null]);
    await muster.message.view({ messageId: a, waitSeconds: 20 });
    await until(async () => (await muster.note.list({ scopeId: run.scopeId })).notes.length === 0);
  });

  it('once does a failed step again, and keeps nothing once the claim is lost', async () => {
    const mailboxId = await mailbox();
    const seen: unknown[] = [];
    const worker = start(mailboxId, async ({ id, payload }, { once, signal }) => {
      let tries = 0;
      const flaky = () => {
        if (++tries === 1) throw new Error('not yet');
        return tries;
      };
      if (payload === 'flaky') {
        seen.push(await once('a', flaky).catch(String), await once('a', flaky));
        for (const key of ['', 'x'.repeat(215)]) seen.push(await once(key, () => 1).catch((error) => error.name));
        return;
      }
      const late = once('a', async () => {
        await muster.message.cancel({ messageId: id });
        return 'late';
      });
      seen.push(await late.catch((error) => error instanceof ClaimLost), signal.aborted || 'soon');
    });
    await send(mailboxId, 'flaky');
    await until(() => Promise.resolve(seen.length === 4));
    expect(seen.splice(0)).to.deep.equal(['Error: not yet', 2, 'RangeError', 'RangeError']);
    const id = await send(mailboxId, 'lost');
    await until(() => Promise.resolve(seen.length === 2));
    expect(seen[0]).to.equal(true);
    expect((await muster.note.list({ scopeId: run.scopeId, prefix: `once:${id}` })).notes).to.deep.equal([]);
    await worker.close(0);
  });
});
