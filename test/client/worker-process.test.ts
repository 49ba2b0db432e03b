import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createMuster, type Muster, Worker } from '../../src/clients/typescript/index.ts';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import { until } from '../support/processes.ts';
import { World } from '../support/world.ts';

const program = fileURLToPath(new URL('worker-program.mjs', import.meta.url));

describe('a worker process', () => {
  let world: World;
  let muster: Muster;
  let child: ChildProcess | undefined;
  let said = '';
  const scopeId = randomUUID();
  before(async () => {
    world = await World.create();
    muster = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
  });
  afterEach(() => child?.kill('SIGKILL'));

  function start(options: object): ChildProcess {
    const WORKER = JSON.stringify({ url: world.url, key: world.apiKey, spaceId: world.spaceId, ...options });
    said = '';
    const started = spawn(process.execPath, [program], { env: { ...process.env, WORKER } });
    endAtExit(started);
    child = started;
    for (const stream of [started.stdout, started.stderr])
      stream.on('data', (text) => {
        said += text;
      });
    return started;
  }
  const send = async (mailboxId: string, ms: number) =>
    (await muster.message.send({ mailboxId, scopeId, payload: { ms } })).id;

  it('told to end, finishes what it can in time, gives back the rest, and ends as the signal says', async () => {
    const { id: mailboxId } = await muster.mailbox.create({ name: randomUUID() });
    const ids = [await send(mailboxId, 400), await send(mailboxId, 60_000)];
    const worker = start({ mailbox: { mailboxId }, concurrency: 2, closeSeconds: 1 });
    await until(() => said.split('received').length === 3);
    const ended = once(worker, 'exit');
    worker.kill('SIGTERM');
    expect(await ended, said).to.deep.equal([null, 'SIGTERM']);
    const [quick, slow] = await Promise.all(ids.map((messageId) => muster.message.view({ messageId })));
    expect(quick).to.include({ state: 'ACKED', attempts: 1 });
    expect(slow).to.include({ state: 'READY', attempts: 0, lastError: 'the worker stopped before the work was done' });
    expect(said).to.equal('received\nreceived\nclosed\n');
  });

  it('killed behind a step leaves its value to the next attempt, which does not do the step again', async () => {
    const { id: mailboxId } = await muster.mailbox.create({ name: randomUUID() });
    const step = { step: true, ms: 60_000 };
    const { id: messageId } = await muster.message.send({ mailboxId, scopeId, payload: step });
    const killed = start({ mailbox: { mailboxId }, leaseSeconds: 5 });
    await until(() => said.includes('attempt 1 has what was made by attempt 1'));
    const ended = once(killed, 'exit');
    killed.kill('SIGKILL');
    await ended;
    await world.at(Date.now() + 6_000);
    start({ mailbox: { mailboxId }, leaseSeconds: 5 });
    await until(() => said.includes('attempt 2 has what was made by attempt 1'));
    await muster.message.cancel({ messageId });
  });

  it('told to end, closes all its workers, and does its own last work after them before it ends', async () => {
    const { id: mailboxId } = await muster.mailbox.create({ name: randomUUID() });
    const ids = await Promise.all([1, 2, 3].map(() => send(mailboxId, 60_000)));
    const worker = start({ mailbox: { mailboxId }, others: 2, closeSeconds: 0.1, flushMs: 300 });
    await until(() => said.split('received').length === 4);
    const ended = once(worker, 'exit');
    worker.kill('SIGTERM');
    expect(await ended, said).to.deep.equal([null, 'SIGTERM']);
    for (const messageId of ids) expect((await muster.message.view({ messageId })).state).to.equal('READY');
    expect(said).to.equal(`${'received\n'.repeat(3)}${'closed\n'.repeat(3)}flushed\n`);
  });

  it('told to end, ends some seconds after its workers though it has more to do', async () => {
    const { id: mailboxId } = await muster.mailbox.create({ name: randomUUID() });
    await send(mailboxId, 60_000);
    const worker = start({ mailbox: { mailboxId }, closeSeconds: 0.1, isKept: true });
    await until(() => said.includes('received'));
    const ended = once(worker, 'exit');
    worker.kill('SIGTERM');
    expect(await ended, said).to.deep.equal([null, 'SIGTERM']);
    expect(said).to.equal('received\nclosed\n');
  });

  it('killed, leaves its message to the next one when its lease is over', async () => {
    const { id: mailboxId } = await muster.mailbox.create({ name: randomUUID() });
    const messageId = await send(mailboxId, 60_000);
    const dead = start({ mailbox: { mailboxId }, leaseSeconds: 5 });
    await until(() => said.includes('received'));
    const ended = once(dead, 'exit');
    dead.kill('SIGKILL');
    await ended;
    await world.at(Date.now() + 6_000);
    const next = new Worker(muster, { mailbox: { mailboxId }, closeOnSignals: false }, ({ attempt }) => attempt);
    await until(() => next.counts.completed === 1);
    await next.close();
    expect(await muster.message.view({ messageId })).to.include({ state: 'ACKED', attempts: 2, result: 2 });
  });
});
