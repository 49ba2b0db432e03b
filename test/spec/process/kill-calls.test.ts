import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { call, type MusterProcess, until } from '../../support/processes.ts';
import { Killing } from './killing.ts';

const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';
const holder = { scopeId, holder: 'a', holderSession: 's' };

describe('kill -9 of an API process around a call', () => {
  let kill: Killing;
  let first: MusterProcess;
  before(async () => {
    kill = await Killing.create();
    first = await kill.start();
  });
  after(() => kill.end());

  it('a call lost with its process takes effect or not; repeating it makes it take effect once', async () => {
    const spare = [kill.start('api'), kill.start('api'), kill.start('api')];
    const mailbox = (await call(first.url, kill.access, '/mailboxes', { name: 'once' })).body.id;
    const count = async (url: string) =>
      (await call(url, kill.access, `/mailboxes/${mailbox}/messages`)).body.messages.length;
    const send = (url: string, key: string) =>
      call(url, kill.access, `/mailboxes/${mailbox}/messages`, { scopeId, payload: key }, key);

    const [a, b, c] = await Promise.all(spare);
    if (!a || !b || !c) throw new Error('three were started');
    const keys = [randomUUID(), randomUUID()] as const;
    await kill.killAround(a, 'before', () => send(a.url, keys[0]));
    expect(await count(first.url)).to.equal(0);
    expect((await send(first.url, keys[0])).status).to.equal(201);
    await kill.killAround(b, 'after', () => send(b.url, keys[1]));
    expect(await count(first.url)).to.equal(2);
    const repeated = await send(first.url, keys[1]);
    expect([repeated.status, repeated.headers.get('idempotent-replayed')]).to.deep.equal([200, 'true']);
    expect(await count(first.url)).to.equal(2);

    const { body } = await call(first.url, kill.access, `/mailboxes/${mailbox}/recv`, holder);
    const complete = (url: string) => call(url, kill.access, `/messages/${body.id}/complete`, { token: body.token });
    await kill.killAround(c, 'after', () => complete(c.url));
    expect((await complete(first.url)).body).to.include({ state: 'ACKED', replay: true });
  });

  it('a cancel, a requeue and the cancel of a run take effect or not, and once when repeated; counters stay right', async () => {
    const spare = Array.from({ length: 3 }, () => kill.start('api'));
    const mailbox = (await call(first.url, kill.access, '/mailboxes', { name: 'again', mode: 'INBOX' })).body.id;
    const runId = randomUUID();
    const send = async (fields: object = {}): Promise<string> => {
      const body = { scopeId: runId, payload: 1, ...fields };
      return (await call(first.url, kill.access, `/mailboxes/${mailbox}/messages`, body)).body.id;
    };
    const message = await send();
    const key = randomUUID();
    await kill.sendMany(first.url, mailbox, 300, { scopeId: runId });
    const acts: [path: string, moment: 'before' | 'after', body: object, state: string, done: string][] = [
      [`/messages/${message}/cancel`, 'before', {}, 'READY', 'CANCELLED'],
      [`/messages/${message}/requeue`, 'after', { delaySeconds: 600 }, 'DELAYED', 'DELAYED'],
      [`/scopes/${runId}/cancel`, 'after', {}, 'DELAYED', 'CANCELLED'],
    ];
    for (const [n, [path, moment, body, state, done]] of acts.entries()) {
      const dying = (await spare[n]) as MusterProcess;
      await kill.killAround(dying, moment, () => call(dying.url, kill.access, path, body, `${key}-${n}`));
      const stands = async () => (await call(first.url, kill.access, `/messages/${message}`)).body.state;
      // The workers continue with a run that is being stopped.
      const isStill = !path.startsWith('/scopes');
      if (isStill) expect(await stands(), `${path} ${moment}`).to.equal(state);
      if (isStill) await kill.expectBooks();
      const repeated = await call(first.url, kill.access, path, body, `${key}-${n}`);
      expect([repeated.status, repeated.headers.get('idempotent-replayed')]).to.deep.equal([
        ...[200, moment === 'after' ? 'true' : null],
      ]);
      if (isStill) expect(await stands()).to.equal(done);
    }
    const ended = async () => (await call(first.url, kill.access, `/scopes/${runId}/cancel`, {})).body;
    await until(async () => (await ended()).done);
    expect((await ended()).cancelled.messages).to.equal(301);
    await kill.expectBooks();
  });

  it('a suspension, and the end that it waits for, take effect once around a kill: the parent is woken, and once', async () => {
    const spare = [kill.start('api'), kill.start('api'), kill.start('api')];
    const mailbox = (await call(first.url, kill.access, '/mailboxes', { name: 'waits' })).body.id;
    const post = async (path: string, body: object, url = first.url, key: string = randomUUID()) =>
      call(url, kill.access, path, body, key);
    const send = async (run: string): Promise<string> =>
      (await post(`/mailboxes/${mailbox}/messages`, { scopeId: run, payload: 1 })).body.id;
    const receive = async (run: string) =>
      (await post(`/mailboxes/${mailbox}/recv`, { ...holder, scopeId: run, leaseSeconds: 600 })).body;
    const [run, below] = [randomUUID(), randomUUID()];
    const parent = await send(run);
    const claim = await receive(run);
    const child = await send(below);
    const [a, b, c] = await Promise.all(spare);
    if (!a || !b || !c) throw new Error('three were started');
    const suspend = (url: string, key: string) =>
      post(`/messages/${parent}/suspend`, { token: claim.token, after: [{ scopeId: below }] }, url, key);
    const stateOf = async () => (await call(first.url, kill.access, `/messages/${parent}`)).body.state;
    const key = randomUUID();
    await kill.killAround(a, 'before', () => suspend(a.url, key));
    expect(await stateOf()).to.equal('CLAIMED');
    await kill.killAround(b, 'after', () => suspend(b.url, key));
    expect(await stateOf()).to.equal('BLOCKED');
    await kill.expectBooks();
    const repeated = await suspend(first.url, key);
    expect([repeated.status, repeated.headers.get('idempotent-replayed')]).to.deep.equal([201, 'true']);
    const { token } = await receive(below);
    await kill.killAround(c, 'after', () => post(`/messages/${child}/complete`, { token }, c.url));
    expect((await post(`/messages/${child}/complete`, { token })).body.replay).to.equal(true);
    expect(await receive(run)).to.include({ id: parent, attempt: 1 });
    const { body: history } = await call(first.url, kill.access, `/messages/${parent}/attempts`);
    expect(history.attempts.map(({ outcome }: { outcome: string }) => outcome)).to.deep.equal(['SUSPENDED', null]);
    await kill.expectBooks();
  });
});
