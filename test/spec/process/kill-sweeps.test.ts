import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { call, type MusterProcess, until } from '../../support/processes.ts';
import { Killing } from './killing.ts';

const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';

describe('kill -9 of a worker in the middle of its sweeps', () => {
  let kill: Killing;
  let api: MusterProcess;
  let worker: MusterProcess;
  before(async () => {
    kill = await Killing.create();
    api = await kill.start('api');
  });
  after(() => kill.end());

  it('due work that a killed worker was about to sweep is swept by the next one', async () => {
    const mailbox = (await call(api.url, kill.access, '/mailboxes', { name: 'sweep' })).body.id;
    // It stands still until the message is due and the store takes no writes.
    const killed = await kill.start('worker');
    killed.signal('SIGSTOP');
    const deadline = Date.now() + 300;
    const message = { scopeId, payload: 1, deadline: new Date(deadline).toISOString() };
    await call(api.url, kill.access, `/mailboxes/${mailbox}/messages`, message);
    await sleep(Math.max(0, deadline - Date.now()));
    await kill.redis.client('PAUSE', 30_000, 'WRITE');
    killed.signal('SIGCONT');
    await until(() => kill.isHeldUp());
    await killed.end('SIGKILL');
    await kill.redis.client('UNPAUSE');
    worker = await kill.start('worker');
    const expired = async () =>
      (await call(api.url, kill.access, `/mailboxes/${mailbox}/messages?state=EXPIRED`)).body.messages.length === 1;
    await until(expired);
  });

  it("a killed worker's steps of delayed messages or a cancelled run are finished by the next one; counters stay right in between", async () => {
    worker.signal('SIGSTOP');
    const mailbox = (await call(api.url, kill.access, '/mailboxes', { name: 'steps', mode: 'INBOX' })).body.id;
    const stopped = randomUUID();
    await kill.sendMany(api.url, mailbox, 60, { scopeId, delaySeconds: 1 });
    await kill.sendMany(api.url, mailbox, 600, { scopeId: stopped });
    const { body } = await call(api.url, kill.access, `/scopes/${stopped}/cancel`, {});
    expect(body.done).to.equal(false);
    const ready = () => kill.redis.hget(`muster:{kill}:1:mailbox:${mailbox}`, 'ready');
    const before = await ready();
    worker.signal('SIGCONT');
    while ((await ready()) === before);
    // A step has begun: this stops the worker between two of its steps.
    await kill.redis.client('PAUSE', 30_000, 'WRITE');
    await until(() => kill.isHeldUp());
    await worker.end('SIGKILL');
    await kill.redis.client('UNPAUSE');
    await kill.expectBooks();
    await kill.start('worker');
    const counts = async () => (await call(api.url, kill.access, `/mailboxes/${mailbox}`)).body.counts;
    await until(async () => (await counts()).ready === 60);
    expect(await counts()).to.deep.equal({ ready: 60, delayed: 0, blocked: 0, claimed: 0, failed: 0 });
    const { cancelled, done } = (await call(api.url, kill.access, `/scopes/${stopped}/cancel`, {})).body;
    expect([cancelled.messages, done]).to.deep.equal([600, true]);
    await kill.expectBooks();
  });
});
