import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, type Reply, World } from '../../support/world.ts';

const all = ['coordination_read', 'coordination_write', 'resource_config', 'resource_spend'];
const scopeId = randomUUID();

describe('A key that is limited to mailboxes', () => {
  let world: World;
  let headers: { Authorization: string };
  let own: string;
  let other: string;
  before(async () => {
    world = await World.create();
    own = (await world.mustPost('/mailboxes', { name: 'own' })).id;
    other = (await world.mustPost('/mailboxes', { name: 'other' })).id;
    headers = { Authorization: `Bearer ${await world.key(all, undefined, { mailboxes: [own] })}` };
  });

  const post = (path: string, body: object = {}, more: Record<string, string> = {}): Promise<Reply> =>
    world.post(path, body, { ...headers, ...more });
  const get = (path: string): Promise<Reply> => world.call('GET', path, undefined, headers);
  const send = async (mailboxId: string, more: object = {}): Promise<string> =>
    (await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1, ...more })).id;
  const claim = (mailboxId: string) =>
    world.mustPost(`/mailboxes/${mailboxId}/recv`, { scopeId: '*', holder: 'h', holderSession: 's' });
  const outcome = (reply: Reply): string => (reply.status < 300 ? String(reply.status) : codeOf(reply));
  const denied = '403 PERMISSION_DENIED';

  it('sends to, receives from and ends messages of those, as any other key', async () => {
    const { id } = (await post(`/mailboxes/${own}/messages`, { scopeId, payload: 1 })).body;
    const claimed = await post(`/mailboxes/${own}/recv`, { scopeId: '*', holder: 'h', holderSession: 's' });
    expect(claimed.body.id).to.equal(id);
    const { token } = claimed.body;
    expect(outcome(await post(`/messages/${id}/renew`, { token }))).to.equal('200');
    expect(outcome(await post(`/messages/${id}/complete`, { token }))).to.equal('200');
    expect(outcome(await get(`/messages/${id}`))).to.equal('200');
  });

  it('sends a result to no other mailbox, and the message stays claimed', async () => {
    const id = await send(own);
    const { token } = await claim(own);
    const result = { payload: 1, mailboxId: other, scopeId };
    expect(outcome(await post(`/messages/${id}/complete`, { token, result }))).to.equal(denied);
    expect((await get(`/messages/${id}`)).body.state).to.equal('CLAIMED');
    expect(outcome(await post(`/messages/${id}/complete`, { token, result: { ...result, mailboxId: own } }))).to.equal(
      '200',
    );
  });

  it('is held to them in an atomic batch, too, by ids and by references', async () => {
    const batch = (...calls: object[]) => post('/batch', { atomic: true, calls });
    const sendTo = (mailboxId: unknown) => ({ call: 'message.send', mailboxId, scopeId, payload: 1 });
    expect(outcome(await batch(sendTo(own), sendTo(own)))).to.equal('200');
    expect(outcome(await batch(sendTo(own), sendTo(other)))).to.equal(denied);
    const made = { call: 'mailbox.create', name: 'made in a batch' };
    expect(outcome(await batch(made, sendTo({ $from: 0 })))).to.equal(denied);
    const before = (await world.get('/mailboxes')).body.mailboxes;
    expect(before.map(({ name }: { name: string }) => name)).to.not.include('made in a batch');
    const { id } = (await post(`/mailboxes/${own}/messages`, { scopeId, payload: 1 })).body;
    const result = { payload: 1, mailboxId: { $from: 0 }, scopeId };
    const { token } = await claim(own);
    expect(outcome(await batch(made, { call: 'message.complete', messageId: id, token, result }))).to.match(/^40[39] /);
  });

  it('names what it may not use in no `after`: there it is unknown', async () => {
    const [mine, theirs] = [await send(own), await send(other)];
    const { groupId } = await world.mustPost('/task-groups', { mailboxId: other, condition: 'FIRST_ACCEPTED' });
    const needs = async (one: object): Promise<string> =>
      outcome(await post(`/mailboxes/${own}/messages`, { scopeId, payload: 1, after: [one] }));
    expect(await needs({ messageId: mine })).to.equal('201');
    expect(await needs({ messageId: theirs })).to.equal('409 MESSAGE_NOT_FOUND');
    expect(await needs({ groupId })).to.equal('409 GROUP_NOT_FOUND');
    const { groupId: ofMine } = await world.mustPost('/task-groups', { mailboxId: own, condition: 'FIRST_ACCEPTED' });
    const submit = { taskKey: 'k', after: [{ messageId: theirs }] };
    expect(outcome(await post(`/task-groups/${ofMine}/tasks`, submit))).to.equal('409 MESSAGE_NOT_FOUND');
  });

  it('reaches no message of another mailbox through a group', async () => {
    const group = { mailboxId: own, condition: 'N_ACCEPTED', threshold: 5, workKey: randomUUID() };
    const { groupId } = await world.mustPost('/task-groups', group);
    const theirs = await send(other);
    const join = `/task-groups/${groupId}/join-task`;
    expect(outcome(await post(join, { taskId: theirs }))).to.equal(denied);
    expect(outcome(await post(join, { taskId: await send(own) }))).to.equal('200');
    expect(outcome(await get(`/task-groups/${groupId}`))).to.equal('200');
    // From then on its decision would end a message of another mailbox.
    await world.mustPost(join, { taskId: theirs });
    for (const reply of [
      await get(`/task-groups/${groupId}`),
      await post(`/task-groups/${groupId}/seal`),
      await post(`/task-groups/${groupId}/tasks`, { taskKey: 'k' }),
      await post(`/task-groups/${groupId}/tasks/${theirs}/reject`),
      await post('/task-groups', group),
      await post('/task-groups', { ...group, workKey: randomUUID(), mailboxId: other }),
    ])
      expect(outcome(reply)).to.equal(denied);
    const listed = (await get('/task-groups?limit=200')).body.groups;
    expect(listed.map(({ id }: { id: string }) => id)).to.not.include(groupId);
    expect(new Set(listed.map((one: { mailboxId: string }) => one.mailboxId))).to.deep.equal(new Set([own]));
  });

  it('sees and changes schedules of its mailboxes alone', async () => {
    const schedule = (mailboxId: string) => ({
      name: randomUUID(),
      mailboxId,
      scopeId,
      payload: 1,
      everySeconds: 9_999,
    });
    const { id: theirs } = await world.mustPost('/schedules', schedule(other));
    const { body: mine } = await post('/schedules', schedule(own));
    expect(outcome(await post('/schedules', schedule(other)))).to.equal(denied);
    const patch = (id: string, body: object): Promise<Reply> => world.call('PATCH', `/schedules/${id}`, body, headers);
    expect(outcome(await patch(mine.id, { name: 'x' }))).to.equal('200');
    expect(outcome(await patch(mine.id, { mailboxId: other }))).to.equal(denied);
    expect(outcome(await patch(theirs, { mailboxId: own }))).to.equal(denied);
    expect(outcome(await post(`/schedules/${theirs}/trigger`))).to.equal(denied);
    expect(outcome(await post(`/schedules/${mine.id}/trigger`))).to.equal('200');
    expect((await get('/schedules')).body.schedules.map(({ id }: { id: string }) => id)).to.deep.equal([mine.id]);
  });

  it('sees and answers questions of its messages, and of no message', async () => {
    const mailbox = async () => (await world.mustPost('/mailboxes', { name: randomUUID() })).id;
    const [mine, theirs] = [await mailbox(), await mailbox()];
    headers = { Authorization: `Bearer ${await world.key(all, undefined, { mailboxes: [own, mine] })}` };
    const ask = async (mailboxId: string) => {
      const messageId = await send(mailboxId);
      const { token } = await claim(mailboxId);
      const { question } = await world.mustPost(`/messages/${messageId}/ask`, { token, question: 1 });
      return { messageId, questionId: question.id };
    };
    const [ofMine, ofTheirs] = [await ask(mine), await ask(theirs)];
    const { id: free } = await world.mustPost('/questions', { scopeId, question: 1 });
    const ids = async (query = ''): Promise<string[]> =>
      (await get(`/questions${query}`)).body.questions.map(({ id }: { id: string }) => id);
    expect(await ids()).to.deep.equal([free, ofMine.questionId]);
    expect(await ids(`?messageId=${ofMine.messageId}`)).to.deep.equal([ofMine.questionId]);
    expect(outcome(await get(`/questions?messageId=${ofTheirs.messageId}`))).to.equal(denied);
    const answer = { answer: 1, answeredBy: 'ann' };
    for (const path of ['', '/answer', '/link', '/withdraw']) {
      const reply = path === '' ? await get(`/questions/${ofTheirs.questionId}`) : undefined;
      const body = path === '/answer' ? answer : {};
      expect(outcome(reply ?? (await post(`/questions/${ofTheirs.questionId}${path}`, body))), path).to.equal(denied);
    }
    expect(outcome(await post(`/questions/${ofMine.questionId}/answer`, answer))).to.equal('200');
    expect(outcome(await post(`/questions/${free}/answer`, answer))).to.equal('200');
  });

  it('lists its mailboxes, and finds no other one by its name', async () => {
    expect((await get('/mailboxes')).body.mailboxes.map(({ id }: { id: string }) => id))
      .to.include(own)
      .and.not.include(other);
    expect((await get('/mailboxes?name=other')).body.mailboxes).to.deep.equal([]);
    expect(outcome(await post('/mailboxes', { name: 'other', unique: true }))).to.equal(denied);
    expect((await post('/mailboxes', { name: 'own', unique: true })).body.id).to.equal(own);
  });

  it('gets no answer of another key by its Idempotency-Key', async () => {
    const key = { 'Idempotency-Key': randomUUID() };
    const id = await send(other);
    expect((await world.post(`/messages/${id}/cancel`, {}, key)).status).to.equal(200);
    expect(outcome(await post(`/messages/${id}/cancel`, {}, key))).to.equal(denied);
  });

  it('tells an unknown id as any other key does', async () => {
    expect(outcome(await get(`/messages/${randomUUID()}`))).to.equal('404 MESSAGE_NOT_FOUND');
    expect(outcome(await get(`/task-groups/${randomUUID()}`))).to.equal('404 GROUP_NOT_FOUND');
    expect(outcome(await get(`/questions/${randomUUID()}`))).to.equal('404 QUESTION_NOT_FOUND');
  });
});
