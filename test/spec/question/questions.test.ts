import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { heldRead } from '../../support/held-reads.ts';
import { codeOf, World } from '../../support/world.ts';
import { Asking } from './questions.ts';

const hour = 3_600_000;
const week = 7 * 24 * hour;
const iso = (at: number): string => new Date(at).toISOString();

describe('a question', () => {
  let world: World;
  let work: Asking;
  let start: number;
  beforeEach(async () => {
    world = await World.create();
    start = Math.ceil(Date.now() / hour) * hour;
    await world.at(start);
    work = await Asking.create(world);
  });
  afterEach(() => expectAgreement(world));

  it('ends the claim of its message, which is BLOCKED until somebody answers, without a lost attempt', async () => {
    const { id } = await work.send();
    const claim = await work.recv();
    const { status, body } = await work.ask(claim, { options: ['yes', 'no'], progress: { page: 3 } });
    expect(status).to.equal(201);
    const { question, ...rest } = body;
    expect(rest).to.deep.equal({ id, state: 'BLOCKED' });
    const { answerUrl, ...record } = question;
    expect(record).to.deep.equal({
      id: question.id,
      scopeId: work.scopeId,
      messageId: id,
      mailboxId: work.mailboxId,
      holder: 'worker-1',
      question: 'Publish?',
      options: ['yes', 'no'],
      state: 'OPEN',
      answer: null,
      answeredBy: null,
      answeredVia: null,
      createdAt: iso(start),
      expiresAt: iso(start + week),
      answeredAt: null,
    });
    expect(answerUrl).to.match(new RegExp(`^${world.url}/answer/${world.org}_[A-Za-z0-9_-]{43}$`));
    expect(await work.question(question.id)).to.deep.equal(record);
    const waiting = await work.message(id);
    expect(waiting).to.deep.include({ state: 'BLOCKED', attempts: 0, holder: null, claimedAt: null, question: record });
    expect(waiting.blockedBy).to.deep.equal([{ kind: 'QUESTION', id: question.id }]);
    expect(await work.recv()).to.equal(undefined);
    expect(codeOf(await world.post(`/messages/${id}/complete`, { token: claim.token }))).to.equal('409 CLAIM_LOST');
    expect((await world.get('/backlog')).body).to.include({ openQuestions: 1, blockedMessages: 1, armedTimers: 1 });
    expect((await world.get('/census')).body.questions).to.include({ OPEN: 1, ANSWERED: 0 });
    const [waits] = (await world.get('/ops/waits')).body.waitingTasks;
    expect(waits).to.deep.include({ waitsFor: 'BLOCKED', blockedBy: [{ kind: 'QUESTION', id: question.id }] });
    await expectAgreement(world);

    await world.at(start + 5000);
    const answered = await work.answer(question.id, 'yes', 'ann');
    const known = { ...record, state: 'ANSWERED', answer: 'yes', answeredBy: 'ann', answeredVia: 'API' };
    expect(answered.body).to.deep.equal({ ...known, answeredAt: iso(start + 5000) });
    const next = await work.recv();
    expect(next).to.deep.include({ id, attempt: 1, progress: { page: 3 }, question: answered.body });
    expect(next.token).to.not.equal(claim.token);
    expect((await world.get(`/mailboxes/${work.mailboxId}/messages`)).body.messages[0].question).to.deep.equal(
      answered.body,
    );
    await world.mustPost(`/messages/${id}/complete`, { token: next.token });
    expect((await work.message(id)).question).to.deep.equal(answered.body);
    const types = (await world.eventTypes()).filter((type) => type !== 'scope.created' && type !== 'mailbox.created');
    expect(types).to.deep.equal([
      ...['message.sent', 'message.claimed', 'question.asked', 'question.answered', 'message.claimed', 'message.acked'],
    ]);
    const { usage } = { usage: (await world.get('/usage')).body.days.at(-1).byCall };
    expect(usage).to.include({ 'message.ask': 1, 'question.answer': 1 });
  });

  it('a question and its answer come back value for value, whatever JSON they are', async () => {
    const text = '{"n":12345678901234567890,"x":1.10,"a":[],"o":{},"z":null}';
    await work.send();
    const { id, token } = await work.recv();
    const headers = { Authorization: `Bearer ${world.apiKey}`, 'Content-Type': 'application/json' };
    const path = `/v1/spaces/${world.spaceId}`;
    const asked = await world.send(
      'POST',
      `${path}/messages/${id}/ask`,
      `{"question":${text},"token":"${token}","progress":${text}}`,
      {
        ...headers,
        'Idempotency-Key': randomUUID(),
      },
    );
    expect(asked.text).to.include(`"question":${text}`);
    const questionId = asked.body.question.id;
    const body = `{"answer":${text},"answeredBy":"ann"}`;
    const first = await world.send('POST', `${path}/questions/${questionId}/answer`, body, headers);
    expect(first.text).to.include(`"answer":${text}`);
    const again = await world.send('POST', `${path}/questions/${questionId}/answer`, body, headers);
    expect(again.text).to.equal(first.text);
    expect((await world.get(`/messages/${id}`)).text).to.include(`"answer":${text}`);
    for (const answer of [null, '', 0, false, []]) {
      const question = await world.mustPost('/questions', { scopeId: randomUUID(), question: answer });
      expect((await work.answer(question.id, answer)).body).to.deep.include({ question: answer, answer });
    }
  });

  it('takes its first answer; the same by the same person again is fine, any other is QUESTION_CLOSED', async () => {
    const { question } = await work.asked();
    const all = await Promise.all(
      Array.from({ length: 200 }, (_, i) => work.answer(question.id, `answer ${i}`, `p${i}`)),
    );
    const won = all.filter(({ status }) => status === 200);
    expect(won).to.have.length(1);
    for (const other of all) if (other !== won[0]) expect(codeOf(other)).to.equal('409 QUESTION_CLOSED');
    const { answer, answeredBy } = won[0]?.body ?? {};
    expect((await work.answer(question.id, answer, answeredBy)).body).to.deep.equal(won[0]?.body);
    expect(codeOf(await work.answer(question.id, answer, 'somebody'))).to.equal('409 QUESTION_CLOSED');
    const claims = (await Promise.all(Array.from({ length: 20 }, () => work.recv()))).filter((one) => one);
    expect(claims.map((claim) => claim.question.answer)).to.deep.equal([answer]);
    expect((await world.eventTypes()).filter((type) => type === 'question.answered')).to.have.length(1);
  });

  it('with options takes one of them, and is still OPEN after anything else', async () => {
    const { question } = await work.asked({ options: ['yes', 'no', 'a "b" \\ é'] });
    for (const other of ['maybe', 'yes\nno', '', null, ['yes'], { yes: 1 }, 'ye', 'YES'])
      expect(codeOf(await work.answer(question.id, other))).to.equal('400 VALIDATION_FAILED');
    expect((await work.answer(question.id, 'a "b" \\ é')).body.answer).to.equal('a "b" \\ é');
    for (const options of [
      [],
      Array.from({ length: 21 }, (_, i) => `${i}`),
      [''],
      ['x'.repeat(201)],
      ['a\nb'],
      'yes',
      [1],
    ])
      expect(codeOf(await work.ask({ id: randomUUID(), token: 't' }, { options }))).to.equal('400 VALIDATION_FAILED');
  });

  it('keeps its bounds: texts, time, and a hundred of a message', async () => {
    const { id } = await work.send();
    const claim = await work.recv();
    for (const field of ['question', 'progress']) {
      const tooLarge = await work.ask(claim, { [field]: 'x'.repeat(4095) });
      expect(codeOf(tooLarge)).to.equal('413 PAYLOAD_TOO_LARGE');
      expect(tooLarge.body.error.message).to.equal(`${field} is larger than 4096 bytes of compact JSON`);
    }
    for (const expiresInSeconds of [4, 2_592_001, '5'])
      expect(codeOf(await work.ask(claim, { expiresInSeconds }))).to.equal('400 VALIDATION_FAILED');
    expect(codeOf(await work.ask(claim, { onExpiry: 'NEVER' }))).to.equal('400 VALIDATION_FAILED');
    expect(codeOf(await work.ask({ ...claim, id: randomUUID() }))).to.equal('404 MESSAGE_NOT_FOUND');
    expect(codeOf(await work.ask({ ...claim, token: 'other' }))).to.equal('409 CLAIM_LOST');
    await world.call('PUT', '/limits', { maxPayloadBytes: 100 });
    let held = claim;
    for (let i = 0; i < 100; i++) {
      const { body } = await work.ask(held, { question: i === 0 ? 'x'.repeat(4094) : i, expiresInSeconds: 2_592_000 });
      if (i === 0) {
        expect(codeOf(await work.answer(body.question.id, 'x'.repeat(99)))).to.equal('413 PAYLOAD_TOO_LARGE');
        expect(codeOf(await work.answer(body.question.id, 'yes', ''))).to.equal('400 VALIDATION_FAILED');
        expect(codeOf(await work.answer(body.question.id, 'yes', 'x'.repeat(257)))).to.equal('400 VALIDATION_FAILED');
      }
      expect((await work.answer(body.question.id, 'x'.repeat(98), 'x'.repeat(256))).status).to.equal(200);
      held = await work.recv();
      expect(held.attempt).to.equal(1);
    }
    expect(codeOf(await work.ask(held))).to.equal('409 QUESTIONS_FULL');
    // The claim stays.
    expect((await world.post(`/messages/${id}/renew`, { token: held.token })).status).to.equal(200);
  });

  it('a question that nobody answers lets its message go on, or fails it, at the very moment', async () => {
    const returning = await work.asked({ expiresInSeconds: 5 });
    await work.send();
    const failing = await work.ask(await work.recv(), { expiresInSeconds: 5, onExpiry: 'FAIL' });
    await world.at(start + 4999);
    expect(await work.recv()).to.equal(undefined);
    await world.at(start + 5000);
    expect(codeOf(await work.answer(returning.question.id))).to.equal('409 QUESTION_CLOSED');
    const next = await work.recv();
    expect(next).to.deep.include({ id: returning.id, attempt: 1 });
    expect(next.question).to.include({ state: 'EXPIRED', answer: null, answeredBy: null });
    const failed = await work.message(failing.body.id);
    expect(failed).to.include({
      state: 'FAILED',
      reason: 'QUESTION_EXPIRED',
      attempts: 0,
      finishedAt: iso(start + 5000),
    });
    expect(failed.question.state).to.equal('EXPIRED');
    const types = await world.eventTypes();
    expect(types.filter((type) => type === 'question.expired')).to.have.length(2);
    expect(types.slice(types.indexOf('message.failed') - 1)[0]).to.equal('question.expired');
    // It can be brought back, and keeps the question.
    const back = await world.mustPost(`/messages/${failing.body.id}/requeue`);
    expect(back.question.state).to.equal('EXPIRED');
  });

  it('is withdrawn by any other end of its message, and only by that', async () => {
    const cancelled = await work.asked();
    await world.mustPost(`/messages/${cancelled.id}/cancel`);
    const late = await work.asked({}, { deadline: iso(start + 10_000) });
    const open = await work.asked();
    expect(codeOf(await world.post(`/questions/${open.question.id}/withdraw`))).to.equal('409 QUESTION_CLOSED');
    await work.passTo(start + 10_000);
    expect((await work.message(late.id)).state).to.equal('EXPIRED');
    const purged = await world.mustPost(`/mailboxes/${work.mailboxId}/purge`, {});
    expect(purged.cancelled).to.equal(1);
    for (const { question } of [cancelled, late, open]) {
      expect((await work.question(question.id)).state).to.equal('WITHDRAWN');
      expect(codeOf(await work.answer(question.id))).to.equal('409 QUESTION_CLOSED');
      expect(codeOf(await world.post(`/questions/${question.id}/link`))).to.equal('409 QUESTION_CLOSED');
      expect((await world.post(`/questions/${question.id}/withdraw`)).status).to.equal(200);
    }
    expect((await world.get('/backlog')).body).to.include({ openQuestions: 0, armedTimers: 0 });
  });

  it('keeps the place of its key, so that the messages behind it wait for its answer and follow in order', async () => {
    await world.call('PATCH', `/mailboxes/${work.mailboxId}`, { perKey: 1 });
    const first = await work.asked({ yieldsKey: false }, { key: 'k' });
    const ids = [first.id];
    for (let n = 0; n < 2; n++) ids.push((await work.send({ key: 'k' })).id);
    const other = await work.send({ key: 'l' });
    const { id, token } = await work.recv();
    expect(id).to.equal(other.id);
    await world.mustPost(`/messages/${id}/complete`, { token });
    expect(await work.recv()).to.equal(undefined);
    expect((await work.message(ids[1] ?? '')).blockedBy).to.deep.equal([{ kind: 'KEY', id: first.id }]);
    await work.answer(first.question.id);
    const again = await work.recv();
    expect(again).to.include({ id: first.id, attempt: 1 });
    expect(await work.recv()).to.equal(undefined);
    await work.ask(again);
    await world.at(start + week);
    for (const id of ids) {
      const claim = await work.recv();
      expect(claim).to.include({ id });
      expect(await work.recv()).to.equal(undefined);
      await world.mustPost(`/messages/${id}/complete`, { token: claim.token });
    }
  });

  it('passes the place of its key on when its message ends, however it ends', async () => {
    await world.call('PATCH', `/mailboxes/${work.mailboxId}`, { perKey: 1 });
    const key = { key: 'k' };
    const ends: ((id: string) => Promise<unknown>)[] = [
      (id) => world.mustPost(`/messages/${id}/cancel`),
      () => world.at(start + hour),
      () => world.mustPost(`/mailboxes/${work.mailboxId}/purge`, { max: 1 }),
    ];
    for (const end of ends) {
      const { id } = await work.asked({ expiresInSeconds: 3600, onExpiry: 'FAIL' }, key);
      const next = await work.send(key);
      await end(id);
      const claim = await work.recv();
      expect(claim).to.include({ id: next.id });
      await world.mustPost(`/messages/${next.id}/complete`, { token: claim.token });
    }
  });

  it('a question that an older version ended without passing its place on keeps its key from nobody', async () => {
    await world.call('PATCH', `/mailboxes/${work.mailboxId}`, { perKey: 1 });
    const { id } = await work.asked({}, { key: 'k' });
    const waiting = await work.send({ key: 'k' });
    const active = `${world.prefix}:mailbox:${work.mailboxId}:keyActive:k`;
    // Such a version ends the message, and leaves it in this set.
    await world.mustPost(`/messages/${waiting.id}/cancel`);
    await world.mustPost(`/messages/${id}/cancel`);
    await world.service.store.zadd(active, 0, id);
    const first = await work.send({ key: 'k' });
    const second = await work.send({ key: 'k' });
    const claim = await work.recv();
    expect(claim).to.include({ id: first.id });
    expect((await work.message(second.id)).blockedBy).to.deep.equal([{ kind: 'KEY', id: first.id }]);
  });

  it('a question that yields its key passes the place on; its message waits for the next behind all', async () => {
    await world.call('PATCH', `/mailboxes/${work.mailboxId}`, { perKey: 1 });
    const first = await work.asked({ yieldsKey: true }, { key: 'k' });
    const second = await work.send({ key: 'k' });
    const third = await work.send({ key: 'k' });
    const claim = await work.recv();
    expect(claim.id).to.equal(second.id);
    await work.answer(first.question.id);
    expect((await work.message(first.id)).blockedBy).to.deep.equal([{ kind: 'KEY', id: second.id }]);
    await world.mustPost(`/messages/${second.id}/complete`, { token: claim.token });
    const next = await work.recv();
    expect(next.id).to.equal(third.id);
    // Asking lets the next of the key in at once.
    await work.ask(next, { yieldsKey: true });
    expect(await work.recv()).to.include({ id: first.id });
    await world.mustPost(`/messages/${third.id}/cancel`);
    await expectAgreement(world);
  });

  it('frees the pool units of its claim, and takes them anew afterwards', async () => {
    const { id: poolId } = await world.mustPost('/pools', { name: 'p', units: 1 });
    const { id: allowanceId } = await world.mustPost('/allowances', { name: 'a', unitsLimit: 10, windowSeconds: 3600 });
    const requires = { pools: [{ poolId }], quotas: [{ allowanceId, units: 2 }] };
    const { question, id } = await work.asked({}, { requires });
    expect((await world.get(`/pools/${poolId}`)).body.heldUnits).to.equal(0);
    expect((await work.message(id)).holds).to.deep.equal([]);
    const hold = await world.mustPost(`/pools/${poolId}/acquire`, { scopeId: work.scopeId, holder: 'h' });
    await work.answer(question.id);
    expect(await work.recv()).to.equal(undefined);
    expect((await work.message(id)).blockedBy).to.deep.equal([{ kind: 'POOL', id: poolId }]);
    await world.mustPost(`/pool-holds/${hold.id}/release`, { token: hold.token });
    const next = await work.recv();
    expect(next.holds).to.have.length(1);
    expect(next.consumptions).to.have.length(1);
    expect((await world.get(`/allowances/${allowanceId}`)).body.usedUnits).to.equal(4);
    // One that is BLOCKED by its question ends without giving back what it does not hold.
    await work.ask(next);
    await world.mustPost(`/messages/${id}/cancel`);
    expect((await world.get(`/pools/${poolId}`)).body.heldUnits).to.equal(0);
  });

  it("a member's question is refused once its group is decided; a decision withdraws an open one", async () => {
    const group = await world.mustPost('/task-groups', { mailboxId: work.mailboxId, condition: 'FIRST_ACCEPTED' });
    const tasks = `/task-groups/${group.groupId}/tasks`;
    const submitted = await Promise.all(['a', 'b', 'c'].map((taskKey) => world.mustPost(tasks, { taskKey, input: 1 })));
    const byId = new Map<string, { id: string; token: string }>();
    for (const _ of submitted) {
      const claim = await work.recv(group.scopeId);
      byId.set(claim.id, claim);
    }
    const [a, b, c] = submitted.map(({ messageId }) => byId.get(messageId));
    const asked = await work.ask(b);
    const { counts } = (await world.get(`/task-groups/${group.groupId}`)).body;
    expect(counts).to.include({ running: 2, pending: 1 });
    await world.mustPost(`/messages/${a?.id}/complete`, { token: a?.token });
    await world.mustPost(`${tasks}/${submitted[0].taskId}/accept`);
    expect((await work.question(asked.body.question.id)).state).to.equal('WITHDRAWN');
    expect((await work.message(b?.id ?? '')).reason).to.equal('GROUP_DECIDED');
    expect(codeOf(await work.ask(c))).to.equal('409 GROUP_DECIDED');
    expect((await world.post(`/messages/${c?.id}/complete`, { token: c?.token })).status).to.equal(200);
  });

  it('can be asked without a message: no work waits for it, and its run withdraws it', async () => {
    const scopeId = randomUUID();
    const asked = await world.mustPost('/questions', { scopeId, question: 'Well?', holder: 'planner' });
    const { answerUrl, ...record } = asked;
    expect(answerUrl).to.match(/\/answer\//);
    expect(record).to.include({ messageId: null, mailboxId: null, holder: 'planner', options: null, state: 'OPEN' });
    const withdrawn = await world.mustPost(`/questions/${asked.id}/withdraw`);
    expect(withdrawn.state).to.equal('WITHDRAWN');
    expect((await world.mustPost(`/questions/${asked.id}/withdraw`)).state).to.equal('WITHDRAWN');
    const nobody = await world.mustPost('/questions', { scopeId, question: 1, expiresInSeconds: 5 });
    const open = await world.mustPost('/questions', { scopeId, question: 2 });
    await world.at(start + 6000);
    const ofMessage = await new Asking(world, work.mailboxId).asked();
    await world.mustPost(`/scopes/${ofMessage.question.scopeId}/cancel`);
    expect((await work.question(ofMessage.question.id)).state).to.equal('WITHDRAWN');
    expect((await work.message(ofMessage.id)).reason).to.equal('RUN_CANCELLED');
    const { cancelled } = await world.mustPost(`/scopes/${scopeId}/cancel`);
    expect(cancelled).to.include({ questions: 1, messages: 0 });
    expect((await work.question(open.id)).state).to.equal('WITHDRAWN');
    expect((await work.question(nobody.id)).state).to.equal('EXPIRED');
    expect(codeOf(await world.post('/questions', { scopeId, question: 3 }))).to.equal('409 SCOPE_CANCELLED');
    const run = (await world.get(`/ops/runs/${scopeId}`)).body.questions;
    expect(run.map((one: { state: string }) => one.state)).to.have.members(['WITHDRAWN', 'EXPIRED', 'WITHDRAWN']);
    expect(run[0]).to.not.have.any.keys('question', 'answer', 'options');
  });

  it('is an armed timer, for which only POST /questions is refused', async () => {
    await world.call('PUT', '/limits', { maxArmedTimers: 1 });
    await work.asked();
    const { body } = await world.get('/backlog');
    expect(body.armedTimers).to.equal(1);
    expect(codeOf(await world.post('/questions', { scopeId: work.scopeId, question: 1 }))).to.equal('409 TIMERS_FULL');
    await work.asked();
    expect((await world.get('/backlog')).body.armedTimers).to.equal(2);
  });

  it('answers asking again with the same key as the first time, with the same answerUrl', async () => {
    await work.send();
    const claim = await work.recv();
    const headers = { 'Idempotency-Key': 'k' };
    const first = await work.ask(claim, {}, headers);
    const again = await work.ask(claim, {}, headers);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect(again.text).to.equal(first.text);
    const body = { scopeId: work.scopeId, question: 1 };
    const one = await world.post('/questions', body, { 'Idempotency-Key': 'q' });
    expect((await world.post('/questions', body, { 'Idempotency-Key': 'q' })).text).to.equal(one.text);
    expect(codeOf(await work.ask(claim))).to.equal('409 CLAIM_LOST');
  });

  it('is found by state, run and message; a view waits for its end', async () => {
    const one = await work.asked();
    const two = await world.mustPost('/questions', { scopeId: randomUUID(), question: 2 });
    await work.answer(one.question.id);
    await work.ask(await work.recv());
    const ids = async (query: string) =>
      (await world.get(`/questions?${query}`)).body.questions.map((q: { id: string }) => q.id);
    const [newest, ...rest] = await ids('');
    expect(rest).to.deep.equal([two.id, one.question.id]);
    expect(await ids('state=OPEN')).to.deep.equal([newest, two.id]);
    expect(await ids('state=ANSWERED,EXPIRED')).to.deep.equal([one.question.id]);
    expect(await ids(`messageId=${one.id}`)).to.deep.equal([newest, one.question.id]);
    expect(await ids(`scopeId=${work.scopeId}`)).to.deep.equal([newest, one.question.id]);
    expect(await ids(`messageId=${one.id}&state=OPEN`)).to.deep.equal([newest]);
    const page = (await world.get('/questions?limit=1')).body;
    expect((await world.get(`/questions?limit=1&cursor=${page.nextCursor}`)).body.questions[0].id).to.equal(two.id);
    expect(codeOf(await world.get(`/questions/${randomUUID()}`))).to.equal('404 QUESTION_NOT_FOUND');
    const held = await heldRead(world, `/questions/${two.id}`);
    await work.answer(two.id, 'now');
    expect((await held.answer).body).to.include({ state: 'ANSWERED', answer: 'now' });
  });

  it('is listed in pages of 4 MiB of questions, options and answers', async () => {
    const asked = (more: object = {}) => world.mustPost('/questions', { scopeId: work.scopeId, question: 1, ...more });
    await asked();
    const { id: second } = await asked({ options: ['yes', 'no'] });
    const { id: first } = await asked();
    await work.answer(second, 'yes');
    const lengths = async (): Promise<number[]> => {
      const { body } = await world.get('/questions');
      const rest = body.nextCursor && (await world.get(`/questions?cursor=${body.nextCursor}`)).body;
      return [body, ...(rest ? [rest] : [])].map(({ questions }) => questions.length);
    };
    // As if longer questions were allowed. The quotes are two bytes.
    const become = (id: string, bytes: number) =>
      world.service.store.hset(`${world.prefix}:question:${id}`, 'question', `"${'x'.repeat(bytes - 2)}"`);
    const half = 2 * 1024 * 1024;
    await become(first, half);
    const rest = half - Buffer.byteLength('yes\nno') - Buffer.byteLength('"yes"');
    await become(second, rest);
    expect(await lengths()).to.deep.equal([3]);
    await become(second, rest + 1);
    expect(await lengths()).to.deep.equal([2, 1]);
    await become(second, 10);
    await become(first, 2 * half);
    expect(await lengths(), 'one that nobody has answered').to.deep.equal([2, 1]);
    for (const id of [first, second]) await world.service.store.hset(`${world.prefix}:question:${id}`, 'question', '1');
  });
});
