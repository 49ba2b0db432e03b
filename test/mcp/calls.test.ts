import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { World } from '../support/world.ts';
import { Agent, versions } from './agent.ts';
import { overRest, sendAndWait, toolNames } from './rest.ts';

for (const version of versions)
  describe(`The tools, over MCP ${version}`, () => {
    let world: World;
    let agent: Agent;
    const called = new Set<string>();
    const scopeId = randomUUID();
    const call = (name: string, args: Record<string, unknown> = {}) => {
      called.add(name);
      return agent.mustCall(name, args);
    };

    before(async () => {
      world = await World.create();
      agent = await Agent.connect(world, { version });
    });
    after(() => agent.close());

    it('find, receive, renew, complete and give back messages', async () => {
      const { id: mailboxId } = await call('mailbox_create', { name: 'jobs', unique: true });
      expect((await call('mailbox_create', { name: 'jobs', unique: true })).id).to.equal(mailboxId);
      const found = await call('mailbox_list', { name: 'jobs', limit: 1 });
      expect(found.mailboxes.map(({ id }: { id: string }) => id)).to.deep.equal([mailboxId]);
      const asked = { mailboxId, scopeId, holder: agent.name, holderSession: '1' };
      expect(await call('message_recv', asked), 'no content').to.equal(null);
      const payload = { text: 'ä "quoted"', list: [1, null, { deep: true }] };
      const sent = await call('message_send', { mailboxId, scopeId, payload, workKey: 'w', delaySeconds: null });
      expect(sent).to.include({ mailboxId, state: 'READY', replay: false, scopeId });
      expect((await call('message_send', { mailboxId, scopeId, payload, workKey: 'w' })).replay).to.equal(true);

      const claim = await call('message_recv', { ...asked, leaseSeconds: 60 });
      expect(claim).to.deep.include({ id: sent.id, payload, holder: agent.name, leaseSeconds: 60 });
      const { id: messageId, token } = claim;
      const progress = { step: 1 };
      expect((await call('message_renew', { messageId, token, progress })).state).to.equal('CLAIMED');
      expect((await call('message_nack', { messageId, token, retry: true, error: 'not yet' })).attempts).to.equal(1);
      const { messages } = await call('message_recv', { ...asked, scopeId: '*', max: 5 });
      expect(messages[0]).to.deep.include({ id: messageId, attempt: 2, lastError: 'not yet', progress });
      const result = { payload: [1, 2], mailboxId, scopeId };
      const done = await call('message_complete', { messageId, token: messages[0].token, result });
      expect(done).to.include({ state: 'ACKED', replay: false });
      expect((await call('message_view', { messageId, waitSeconds: 5 })).result).to.deep.equal([1, 2]);
      expect((await world.get(`/messages/${done.resultMessageId}`)).body.payload).to.deep.equal([1, 2]);
    });

    it('judge tasks of a group', async () => {
      const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'tasks' });
      const { groupId, scopeId: gate } = await call('group_create', { mailboxId, condition: 'ALL_TERMINAL' });
      const tasks: string[] = [];
      for (const taskKey of ['a', 'b'])
        tasks.push((await call('task_submit', { groupId, taskKey, input: { taskKey } })).taskId);
      for (const _ of tasks) {
        const asked = { mailboxId, scopeId: gate, holder: 'h', holderSession: 's' };
        const { id: messageId, token, payload } = await call('message_recv', asked);
        await call('message_complete', { messageId, token, result: { payload: payload.taskKey } });
      }
      expect((await call('group_seal', { groupId })).outcome).to.equal('SATISFIED');
      const { state, members } = await call('group_view', { groupId, waitSeconds: 5 });
      expect([state, ...members.map(({ outcome }: { outcome: string }) => outcome)]).to.have.members([
        'DECIDED',
        'a',
        'b',
      ]);
      expect((await call('task_accept', { groupId, taskId: tasks[0] })).verdict).to.equal('ACCEPTED');
      expect((await call('task_reject', { groupId, taskId: tasks[1] })).verdict).to.equal('REJECTED');
    });

    it('reserve and settle money', async () => {
      const fields = { name: 'eur', currency: 'EUR', scale: 2, limitMinor: '1000' };
      const { id: budgetId } = await world.mustPost('/budgets', fields);
      expect((await call('budget_list', {})).budgets[0].id).to.equal(budgetId);
      const asked = { budgetId, scopeId, holder: 'h', amountMinor: '300', workKey: 'w' };
      const { id: reservationId } = await call('budget_reserve', asked);
      const settled = await call('budget_settle', { budgetId, reservationId, amountMinor: '120', workKey: 'w' });
      expect(settled.balances).to.include({ reserved: '180', settled: '120' });
      const { balances } = await call('budget_void', { budgetId, reservationId, workKey: 'w' });
      expect(balances).to.include({ reserved: '0', available: '880' });
      const { id: small } = await call('budget_reserve', { ...asked, workKey: 'x' });
      const cost = { budgetId, reservationId: small, amountMinor: '900', workKey: 'x', overrun: true };
      expect((await call('budget_settle', cost)).entry.overdrawnMinor).to.equal('20');
    });

    it('consume and wait', async () => {
      const fields = { name: 'api', unitsLimit: 1, windowSeconds: 86_400 };
      const { id: allowanceId } = await world.mustPost('/allowances', fields);
      expect((await call('allowance_list', { name: 'api' })).allowances[0].availableUnits).to.equal(1);
      const asked = { allowanceId, scopeId, holder: 'h', units: 1 };
      const { id: consumptionId, availableUnits } = await call('allowance_consume', asked);
      expect(availableUnits).to.equal(0);
      const waiter = await call('allowance_wait', asked);
      expect(waiter).to.include({ state: 'WAITING', position: 1 });
      expect((await call('waiter_view', { waiterId: waiter.id })).state).to.equal('WAITING');
      const renewed = await call('waiter_renew', { waiterId: waiter.id, ttlSeconds: 3600 });
      expect(Date.parse(renewed.expiresAt)).to.be.above(Date.parse(waiter.expiresAt));
      const waits = await call('waits_get', { full: true });
      expect(waits.waiters[0].blockedBy).to.equal('WINDOW');
      const { id: waiterId } = await call('allowance_wait', asked);
      expect((await call('waiter_cancel', { waiterId })).state).to.equal('CANCELLED');
      await call('allowance_settle', { allowanceId, consumptionId, units: 0 });
      expect((await call('waiter_view', { waiterId: waiter.id })).state).to.equal('GRANTED');
      const cooled = await call('allowance_cooldown', { allowanceId, seconds: 60, reason: '429' });
      expect(cooled).to.include({ allowanceId, reason: '429' });
      expect(await agent.refused('allowance_consume', asked)).to.equal('ALLOWANCE_COOLING_DOWN');
    });

    it('hold a lock, and wait for it', async () => {
      const { id: poolId } = await world.mustPost('/pools', { name: 'lock', units: 1 });
      expect((await call('pool_list', { name: 'lock' })).pools[0].availableUnits).to.equal(1);
      const asked = { poolId, scopeId, holder: 'h' };
      const held = await call('pool_acquire', asked);
      expect(held.state).to.equal('HELD');
      const [next, last] = [await call('pool_acquire', asked), await call('pool_acquire', asked)];
      expect(next).to.include({ state: 'WAITING', position: 1 });
      expect((await call('hold_renew', { holdId: held.id, token: held.token })).state).to.equal('HELD');
      expect(await call('hold_renew', { holdId: next.id, ttlSeconds: 60 })).to.include({
        state: 'WAITING',
        position: 1,
      });
      const waits = await call('waits_get', { full: true });
      expect(waits.waitingHolds[0].blockedBy).to.equal('UNITS');
      expect((await call('hold_cancel', { holdId: last.id })).state).to.equal('CANCELLED');
      const waiting = call('hold_view', { holdId: next.id, waitSeconds: 20 });
      expect((await call('hold_release', { holdId: held.id, token: held.token })).state).to.equal('RELEASED');
      expect((await waiting).state).to.equal('HELD');
    });

    it('ask a person, who answers elsewhere: no tool answers, and no model gets a link', async () => {
      const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'drafts' });
      await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1 });
      const receiver = { mailboxId, scopeId, holder: 'h', holderSession: 's' };
      const { id: messageId, token } = await call('message_recv', receiver);
      const text = { messageId, token, question: 'Publish?', options: ['yes', 'no'], progress: { page: 3 } };
      const asked = await call('message_ask', text);
      expect(asked).to.include({ id: messageId, state: 'BLOCKED' });
      const created = await call('question_create', { scopeId, question: { text: 'Who else?' }, holder: 'h' });
      const { questions } = await call('question_list', { scopeId, state: 'OPEN' });
      expect(questions.map(({ id }: { id: string }) => id)).to.deep.equal([created.id, asked.question.id]);
      const waiting = call('question_view', { questionId: asked.question.id, waitSeconds: 20 });
      for (const one of [asked.question, created, ...questions]) expect(one).to.not.have.property('answerUrl');
      await world.mustPost(`/questions/${asked.question.id}/answer`, { answer: 'yes', answeredBy: 'ann' });
      expect(await waiting).to.include({ state: 'ANSWERED', answer: 'yes', answeredBy: 'ann' });
      const next = await call('message_recv', receiver);
      expect(next).to.deep.include({ id: messageId, attempt: 1, progress: { page: 3 } });
      expect(next.question.answer).to.equal('yes');
      await world.mustPost(`/messages/${messageId}/complete`, { token: next.token });
      expect((await call('question_withdraw', { questionId: created.id })).state).to.equal('WITHDRAWN');
      expect(toolNames.filter((name) => /answer|link/.test(name))).to.deep.equal([]);
    });

    it('give up a claim until other work has ended', async () => {
      const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'plans' });
      const [parent, child] = [randomUUID(), randomUUID()];
      await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId: parent, payload: 1 });
      const receiver = { mailboxId, holder: 'h', holderSession: 's' };
      const { id: messageId, token } = await call('message_recv', { ...receiver, scopeId: parent });
      const sent = await call('message_send', { mailboxId, scopeId: child, payload: 'part' });
      const suspended = await call('message_suspend', { messageId, token, after: [{ messageId: sent.id }] });
      expect(suspended).to.deep.equal({
        ...{ id: messageId, state: 'BLOCKED' },
        blockedBy: [{ kind: 'MESSAGE', id: sent.id }],
      });
      const part = await call('message_recv', { ...receiver, scopeId: child });
      await call('message_complete', { messageId: part.id, token: part.token });
      const next = await call('message_recv', { ...receiver, scopeId: parent });
      expect(next.suspension.after[0]).to.include({ messageId: sent.id, state: 'ACKED' });
    });

    it('send and wait in one call, and cancel', async () => {
      const { id: mailboxId } = await call('mailbox_create', { name: 'asked' });
      const send = { mailboxId, scopeId, payload: 'why?', workKey: 'q' };
      const first = await call(sendAndWait, { ...send, waitSeconds: 0 });
      expect(first).to.include({ mailboxId, state: 'READY', result: null });
      const waiting = call(sendAndWait, send);
      const claim = await call('message_recv', { mailboxId, scopeId, holder: 'h', holderSession: 's' });
      const { id: messageId, token } = claim;
      await call('message_complete', { messageId, token, result: { payload: 'because' } });
      expect(await waiting).to.include({ id: first.id, state: 'ACKED', result: 'because' });
      const second = await call('message_send', { ...send, workKey: 'r' });
      expect(await call('message_cancel', { messageId: second.id })).to.include({ id: second.id, state: 'CANCELLED' });
      // A cancelled message is an answer, one that failed an error of the tool; both have the message.
      expect(await call(sendAndWait, { ...send, workKey: 'r' })).to.include({ id: second.id, state: 'CANCELLED' });
      await call('message_send', { ...send, workKey: 's' });
      const given = await call('message_recv', { mailboxId, scopeId, holder: 'h', holderSession: 's' });
      await call('message_nack', { messageId: given.id, token: given.token, retry: false, error: 'cannot' });
      const failed = await agent.call(sendAndWait, { ...send, workKey: 's' });
      expect([failed.isError, failed.value.state, failed.value.lastError]).to.deep.equal([true, 'REJECTED', 'cannot']);
    });

    it('arrive and wait', async () => {
      const { id: barrierId } = await call('barrier_create', { scopeId, target: 2 });
      expect(await call('barrier_arrive', { barrierId, arrivalKey: 'a', epoch: 1 })).to.include({ state: 'OPEN' });
      const waiting = call('barrier_view', { barrierId, waitSeconds: 20, epoch: 1 });
      await world.mustPost(`/barriers/${barrierId}/arrive`, { arrivalKey: 'b' });
      expect((await waiting).state).to.equal('RELEASED');
    });

    it('put, read, wait for, list and delete notes', async () => {
      const note = { scopeId, key: 'plan/1' };
      expect(await call('note_put', { ...note, value: { n: 1 }, ifVersion: 0 })).to.include({
        version: 1,
        holder: null,
      });
      const waiting = call('note_view', { ...note, sinceVersion: 1, waitSeconds: 20 });
      await overRest(world, 'note_put', { ...note, value: { n: 2 } });
      expect(await waiting).to.deep.include({ version: 2, value: { n: 2 } });
      const { notes } = await call('note_list', { scopeId, prefix: 'plan/', values: true, limit: 5 });
      expect(notes).to.deep.equal([(await overRest(world, 'note_view', note)).body]);
      expect(await call('note_delete', { ...note, ifVersion: 2 })).to.equal(null);
      expect((await call('note_list', { scopeId })).notes).to.deep.equal([]);
    });

    it('see a run, and stop it; read the journal', async () => {
      const run = await call('run_view', { scopeId, full: true });
      expect(run.messages.length + run.barriers.length).to.be.above(1);
      expect(run).to.deep.equal((await overRest(world, 'run_view', { scopeId })).body);
      const events = await call('event_watch', { types: 'message.*', limit: 2, waitSeconds: 20 });
      expect(events.events.map(({ type }: { type: string }) => type)).to.deep.equal([
        'message.sent',
        'message.claimed',
      ]);
      const from = { cursor: 'latest', scopeId };
      const { nextCursor } = await call('event_watch', from);
      const next = call('event_watch', { cursor: nextCursor, scopeId, types: 'scope.cancelled', waitSeconds: 20 });
      expect(await call('scope_cancel', { scopeId })).to.include({ scopeId, state: 'CANCELLED' });
      expect((await next).events).to.have.lengthOf(1);
    });

    it('make several calls in one, all or none; what has no tool is not reached by it either', async () => {
      const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'batched' });
      const inRun = { mailboxId, scopeId: randomUUID() };
      await call('message_send', { ...inRun, payload: 1 });
      const { id: messageId, token } = await call('message_recv', { ...inRun, holder: 'h', holderSession: 's' });
      const question = { call: 'question.create', scopeId: inRun.scopeId, question: 'Go on?' };
      const complete = { call: 'message.complete', messageId, token };
      const calls = [
        complete,
        { call: 'message.send', ...inRun, payload: { $from: 0 } },
        { call: 'message.view', messageId: { $from: 1 }, expect: { state: 'READY' } },
        question,
      ];
      const none = await agent.call('batch', { atomic: true, calls: [...calls, { ...complete, token: 'x' }] });
      expect([none.isError, none.value.error.code, none.value.error.index]).to.deep.equal([true, 'CLAIM_LOST', 4]);
      const { results } = await call('batch', { atomic: true, calls, idempotencyKey: 'all' });
      expect(results.map(({ status }: { status: number }) => status)).to.deep.equal([200, 201, 200, 201]);
      expect(results[2].body).to.deep.include({ id: results[1].body.id, payload: { $from: 0 } });
      const again = await call('batch', { atomic: true, calls, idempotencyKey: 'all' });
      expect(again.results[1].body.id).to.equal(results[1].body.id);
      const each = await call('batch', { calls: [question, { ...complete, messageId: randomUUID() }] });
      expect(each.results.map(({ status }: { status: number }) => status)).to.deep.equal([201, 404]);

      const questionId = results[3].body.id;
      for (const one of [results[3].body, each.results[0].body]) expect(one).to.not.have.property('answerUrl');
      const rule = /^call must be one of the calls that the schema of the tool names.*: views only with atomic, /;
      for (const closed of [
        { call: 'question.answer', questionId, answer: 'yes', answeredBy: 'ann' },
        { call: 'question.link', questionId },
        { call: 'limits.put', maxBacklog: 1 },
      ]) {
        const refused = await agent.call('batch', { atomic: true, calls: [closed] });
        expect([refused.isError, refused.value.error.code]).to.deep.equal([true, 'VALIDATION_FAILED']);
        expect(refused.value.error.message).to.match(rule);
        const [one] = (await call('batch', { calls: [closed] })).results;
        expect([one.status, one.body.error.code]).to.deep.equal([400, 'VALIDATION_FAILED']);
        expect(one.body.error.message).to.match(rule);
      }
      const [read] = (await call('batch', { calls: [{ call: 'question.view', questionId }] })).results;
      expect(read.body.error.message).to.match(rule);
      expect((await call('question_view', { questionId })).state).to.equal('OPEN');
      const schema = JSON.stringify((await agent.client.listTools()).tools.find(({ name }) => name === 'batch'));
      expect(schema).to.not.match(/question\.(answer|link)/);
    });

    it('were all called', () => {
      expect([...called].sort()).to.deep.equal([...toolNames].sort());
    });

    it('do a call once for one idempotencyKey; another call with it is refused; without one, each is its own', async () => {
      const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'once' });
      const send = { mailboxId, scopeId: randomUUID(), payload: 1 };
      const first = await call('message_send', { ...send, idempotencyKey: 'k' });
      expect(await call('message_send', { idempotencyKey: 'k', ...send })).to.include({ id: first.id, replay: true });
      expect(await agent.refused('message_send', { ...send, payload: 2, idempotencyKey: 'k' })).to.equal(
        'IDEMPOTENCY_KEY_REUSED',
      );
      for (const idempotencyKey of ['', 'a b', 7, 'x'.repeat(256)])
        expect(await agent.refused('message_send', { ...send, idempotencyKey })).to.equal('IDEMPOTENCY_KEY_INVALID');
      // The same key means another request over REST: neither finds the other's answer.
      const rest = await overRest(world, 'message_send', { ...send, idempotencyKey: 'k' });
      expect(rest.status).to.equal(422);
      for (const idempotencyKey of [undefined, null]) await call('message_send', { ...send, idempotencyKey });
      expect((await world.get(`/mailboxes/${mailboxId}`)).body.counts.ready).to.equal(3);
    });

    it('name the argument that is wrong, and those that there are', async () => {
      const refusal = async (name: string, args: Record<string, unknown>): Promise<string> => {
        const { isError, value } = await agent.call(name, args);
        expect([isError, value.error.code]).to.deep.equal([true, 'VALIDATION_FAILED']);
        return value.error.message;
      };
      expect(await refusal('mailbox_list', { limit: 201 })).to.match(/^limit must be a whole number from 1 to 200/);
      expect(await refusal('mailbox_list', { limit: 1.5 })).to.match(/^limit must be/);
      expect(await refusal('mailbox_list', { name: ['a'] })).to.match(/^name must be/);
      expect(await refusal('mailbox_list', { limits: 3 })).to.equal(
        'limits is not a field of mailbox_list, which takes limit, cursor, name',
      );
      const recv = { scopeId, holder: 'h', holderSession: 's' };
      expect(await refusal('message_recv', recv)).to.match(/^mailboxId is missing/);
      expect(await refusal('message_recv', { ...recv, mailboxId: 'x' })).to.match(/^mailboxId must be a uuid/);
      expect(await refusal('message_recv', { ...recv, mailboxId: randomUUID(), max: 101 })).to.match(/^max must be/);
      expect(await refusal('message_recv', { ...recv, mailboxId: randomUUID(), spaceId: world.spaceId })).to.match(
        /^spaceId is not a field/,
      );
      const nested = { messageId: randomUUID(), token: 't', result: { payload: 1, other: 2 } };
      expect(await refusal('message_complete', nested)).to.match(/^result.other is not/);
    });

    it('take any value as a payload', async () => {
      const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'numbers' });
      for (const payload of [null, false, 0.1, 1e21, '12345678901234567890', 'null', [[]], { '': {} }]) {
        const { id: messageId } = await call('message_send', { mailboxId, scopeId: randomUUID(), payload });
        expect((await call('message_view', { messageId })).payload).to.deep.equal(payload);
      }
    });
  });
