import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { call, type MusterProcess, until } from '../../support/processes.ts';
import { Killing } from './killing.ts';

const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';

describe('kill -9 of a worker between the steps of a sweep', () => {
  let kill: Killing;
  let api: MusterProcess;
  let worker: MusterProcess;
  before(async () => {
    kill = await Killing.create();
    [api, worker] = await Promise.all([kill.start('api'), kill.start('worker')]);
  });
  after(() => kill.end());

  it("a killed worker's steps are finished by the next one, and counters stay right in between", async () => {
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
    expect(await counts()).to.deep.equal({ ready: 60, delayed: 0, blocked: 0, claimed: 0, failed: 0, acked: 0 });
    const { cancelled, done } = (await call(api.url, kill.access, `/scopes/${stopped}/cancel`, {})).body;
    expect([cancelled.messages, done]).to.deep.equal([600, true]);
    await kill.expectBooks();
  });
});
