import { expect } from 'chai';
import { World } from '../../support/world.ts';

const noon = Date.UTC(2026, 0, 31, 12);
const at = (seconds: number): string => new Date(noon + seconds * 1000).toISOString();

describe('GET /messages/{id}/attempts', () => {
  let world: World;
  let mailboxId: string;
  const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';
  before(async () => {
    world = await World.create();
  });
  beforeEach(async () => {
    await world.at(noon);
    mailboxId = (await world.mustPost('/mailboxes', { name: 'jobs', maxAttempts: 20 })).id;
  });

  const send = async (): Promise<string> =>
    (await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1 })).id;
  const recv = (holder: string) =>
    world.mustPost(`/mailboxes/${mailboxId}/recv`, { scopeId, holder, holderSession: 's', leaseSeconds: 60 });
  const nack = (id: string, token: string, more: object) =>
    world.mustPost(`/messages/${id}/nack`, { token, retry: true, ...more });
  const attempts = async (id: string) => (await world.get(`/messages/${id}/attempts`)).body.attempts;

  it('answers none, then the present one, and how it ended', async () => {
    const id = await send();
    expect(await attempts(id)).to.deep.equal([]);
    const { token } = await recv('ann');
    const present = { attempt: 1, holder: 'ann', claimedAt: at(0), endedAt: null, outcome: null };
    expect(await attempts(id)).to.deep.equal([{ ...present, error: null, progress: null }]);
    await world.mustPost(`/messages/${id}/renew`, { token, leaseSeconds: 60, progress: { page: 3 } });
    await world.at(noon + 5_000);
    await world.mustPost(`/messages/${id}/complete`, { token });
    expect(await attempts(id)).to.deep.equal([
      { ...present, endedAt: at(5), outcome: 'ACKED', error: null, progress: { page: 3 } },
    ]);
    const record = await world.service.store.hgetall(`${world.prefix}:message:${id}`);
    expect(record, 'a message that is acked at once pays nothing').to.not.have.property('pastAttempts');
  });

  it('keeps who had it, until when, what was reported and how it ended, beyond a requeue', async () => {
    const id = await send();
    const first = await recv('ann');
    await world.at(noon + 10_000);
    await nack(id, first.token, { error: 'no "A4"\\n', delaySeconds: 0 });
    const second = await recv('bob');
    await world.at(noon + 20_000);
    await nack(id, second.token, { countsAttempt: false });
    await recv('cleo');
    await world.at(noon + 90_000);
    const fourth = await recv('dan');
    await nack(id, fourth.token, { retry: false, error: 'never' });
    const kept = [
      ['ann', 1, at(0), at(10), 'RETURNED', 'no "A4"\\n'],
      ['bob', 2, at(10), at(20), 'UNTRIED', null],
      ['cleo', 2, at(20), at(80), 'LEASE_EXPIRED', `the lease ended at ${at(80)} (holder cleo)`],
      ['dan', 3, at(90), at(90), 'REJECTED', 'never'],
    ].map(([holder, attempt, claimedAt, endedAt, outcome, error]) => ({
      ...{ attempt, holder, claimedAt, endedAt, outcome, error, progress: null },
    }));
    expect(await attempts(id)).to.deep.equal(kept);
    await world.mustPost(`/messages/${id}/requeue`);
    expect(await attempts(id)).to.deep.equal(kept);
    await recv('eve');
    await world.mustPost(`/messages/${id}/cancel`);
    const last = { attempt: 1, holder: 'eve', claimedAt: at(90), endedAt: at(90), outcome: 'CANCELLED', error: null };
    expect(await attempts(id)).to.deep.equal([...kept, { ...last, progress: null }]);
    await world.mustPost(`/messages/${id}/requeue`);
    expect((await attempts(id)).slice(4)).to.deep.equal([{ ...last, progress: null }]);
    const { token } = await recv('fay');
    await world.mustPost(`/messages/${id}/ask`, { token, question: 'Print it?' });
    expect((await attempts(id)).at(-1)).to.include({ holder: 'fay', outcome: 'ASKED' });
  });

  it('says with an ended lease when it ended and whose it was, in the error that the next attempt gets as well', async () => {
    const groupId = (await world.mustPost('/task-groups', { mailboxId, condition: 'ALL_TERMINAL' })).id;
    const task = await world.mustPost(`/task-groups/${groupId}/tasks`, { taskKey: 'a', maxAttempts: 2 });
    const take = { holder: 'ann', holderSession: 's', leaseSeconds: 60 };
    const receive = () => world.post(`/mailboxes/${mailboxId}/recv`, { scopeId: '*', ...take });
    const first = await receive();
    await world.mustPost(`/messages/${task.messageId}/renew`, { token: first.body.token, leaseSeconds: 61 });
    await world.at(noon + 86_461_007);
    const lastError = `the lease ended at 2026-01-31T12:01:01.000Z (holder ann)`;
    // No worker has swept: the receive itself does.
    expect((await receive()).body).to.include({ attempt: 2, lastError });
    await world.at(noon + 2 * 86_461_007);
    expect((await receive()).status).to.equal(204);
    const last = `the lease ended at 2026-02-01T12:02:01.007Z (holder ann)`;
    expect((await world.get(`/messages/${task.messageId}`)).body).to.include({ state: 'FAILED', lastError: last });
    const { members } = (await world.get(`/task-groups/${groupId}`)).body;
    expect(members[0]).to.include({ state: 'FAILED', lastError: last });
    const { messages } = (await world.get(`/ops/runs/${first.body.scopeId}`)).body;
    expect(messages[0]).to.include({ lastError: last });
    const errors = (await attempts(task.messageId)).map(({ error }: { error: string }) => error);
    expect(errors).to.deep.equal([lastError, last]);
  });

  it('keeps the last ten, and at most 300 bytes of an error, whole characters', async () => {
    const id = await send();
    for (let n = 0; n < 12; n++) {
      const { token } = await recv(`h${n}`);
      await world.mustPost(`/messages/${id}/renew`, {
        token,
        leaseSeconds: 60,
        progress: 'p'.repeat(n < 11 ? 10 : 300),
      });
      await nack(id, token, { error: 'é'.repeat(200).padStart(201, 'x'), delaySeconds: 0 });
    }
    const all = await attempts(id);
    expect(all.map(({ holder }: { holder: string }) => holder)).to.deep.equal(
      Array.from({ length: 10 }, (_, n) => `h${n + 2}`),
    );
    expect(all[0]).to.include({ error: `x${'é'.repeat(149)}`, progress: 'p'.repeat(10) });
    expect(all[9].progress).to.equal(null);
  });
});

describe('GET /messages', () => {
  it('finds messages of all mailboxes by workKey or key, only those of mailboxes that the key may use', async () => {
    const world = await World.create();
    const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';
    const boxes = await Promise.all(['a', 'b', 'c'].map((name) => world.mustPost('/mailboxes', { name })));
    const send = (index: number, more: object) =>
      world.mustPost(`/mailboxes/${boxes[index].id}/messages`, { scopeId, payload: 1, ...more });
    const one = await send(0, { workKey: 'order 1' });
    const other = await send(1, { workKey: 'order 1', key: 'acme' });
    const third = await send(1, { workKey: 'order 2', key: 'acme' });
    await send(2, { workKey: 'order 3' });
    const find = async (query: string, key = world.apiKey): Promise<string[]> => {
      const { body } = await world.call('GET', `/messages?${query}`, undefined, { Authorization: `Bearer ${key}` });
      expect(body.nextCursor).to.equal(null);
      for (const message of body.messages) expect(message).to.not.have.property('payload');
      return body.messages.map(({ id }: { id: string }) => id);
    };
    expect(await find('workKey=order+1')).to.have.members([one.id, other.id]);
    expect(await find('key=acme')).to.deep.equal([third.id, other.id]);
    expect(await find('key=nobody')).to.deep.equal([]);
    const limited = await world.key(['coordination_read'], [world.spaceId], { mailboxes: [boxes[0].id] });
    expect(await find('workKey=order+1', limited)).to.deep.equal([one.id]);
    for (const query of ['', 'workKey=a&key=b'])
      expect((await world.get(`/messages?${query}`)).body.error.message).to.equal(
        'query must have either workKey or key',
      );
    const page = (await world.get('/messages?workKey=order+1&limit=1')).body;
    const rest = (await world.get(`/messages?workKey=order+1&limit=1&cursor=${page.nextCursor}`)).body;
    expect([...page.messages, ...rest.messages].map(({ id }) => id)).to.have.members([one.id, other.id]);
  });
});
