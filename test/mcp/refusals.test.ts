import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { setPlan } from '../../src/primitives/org/admin.ts';
import { World } from '../support/world.ts';
import { Agent, versions } from './agent.ts';
import { type Args, overRest, routeOf, sendAndWait, toolNames } from './rest.ts';

const deadline = '2099-01-01T00:00:00Z';
const large = 'x'.repeat(300);

/** Everything that a call can be refused for. */
async function stage(world: World) {
  const post = world.mustPost.bind(world);
  const scopeId = randomUUID();
  const receiver = { scopeId, holder: 'h', holderSession: 's' };
  const { id: mailboxId } = await post('/mailboxes', { name: 'jobs' });
  const { id: inboxId } = await post('/mailboxes', { name: 'letters', mode: 'INBOX', recipientId: 'somebody' });
  await post(`/mailboxes/${inboxId}/messages`, { scopeId, payload: 1 });
  const send = () => post(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1, deadline });
  await send();
  const claim = await post(`/mailboxes/${mailboxId}/recv`, { ...receiver, leaseSeconds: 600 });
  await send();

  const group = async (fields: object = {}): Promise<string> => {
    const asked = { mailboxId, condition: 'FIRST_ACCEPTED', parentScopeId: scopeId, ...fields };
    return (await post('/task-groups', asked)).groupId;
  };
  const groupId = await group();
  const pending = await post(`/task-groups/${groupId}/tasks`, { taskKey: 'a' });
  const works = { ...receiver, scopeId: (await world.get(`/task-groups/${await group()}`)).body.scopeId };
  const [decidedId, judgedId] = [await group(), await group({ condition: 'ALL_TERMINAL' })];
  const members: string[] = [];
  for (const id of [decidedId, judgedId]) {
    const { taskId } = await post(`/task-groups/${id}/tasks`, { taskKey: 'a' });
    const gate = (await world.get(`/task-groups/${id}`)).body.scopeId;
    const taken = await post(`/mailboxes/${mailboxId}/recv`, { ...works, scopeId: gate });
    await post(`/messages/${taken.id}/complete`, { token: taken.token });
    await post(`/task-groups/${id}/tasks/${taskId}/accept`);
    members.push(taskId);
  }
  const fullId = await group();
  const hundred = async (of: (n: number) => object): Promise<void> => {
    const { results } = await post('/batch', { calls: Array.from({ length: 100 }, (_, n) => of(n)) });
    expect(new Set(results.map(({ status }: { status: number }) => status))).to.deep.equal(new Set([201]));
  };
  await hundred((n) => ({ call: 'task.submit', groupId: fullId, taskKey: `${n}`, delaySeconds: 60 }));
  const crowded = randomUUID();
  for (let i = 0; i < 10; i++)
    await hundred(() => ({ call: 'group.create', mailboxId, condition: 'ALL_TERMINAL', parentScopeId: crowded }));
  let deepest = randomUUID();
  for (let depth = 2; depth <= 8; depth++) deepest = (await post('/scopes', { parentScopeId: deepest })).id;

  const { id: stoppedId } = await post('/scopes', {});
  const stoppedGroupId = await group({ parentScopeId: stoppedId });
  await post(`/scopes/${stoppedId}/cancel`);

  const { id: withdrawn } = await send();
  await post(`/messages/${withdrawn}/cancel`);
  const { id: awaited } = await send();
  const { store } = world.service;
  await store.rpush(`${world.prefix}:dependents:${awaited}`, ...Array.from({ length: 10_000 }, () => randomUUID()));

  const { id: budgetId } = await post('/budgets', { name: 'b', currency: 'EUR', scale: 2, limitMinor: '1000' });
  const reserve = (amountMinor: string, workKey: string) =>
    post(`/budgets/${budgetId}/reserve`, { scopeId, holder: 'h', amountMinor, workKey });
  const { id: reservationId } = await reserve('100', 'r');
  const { id: closedId } = await reserve('100', 'closed');
  await post(`/budgets/${budgetId}/settle`, { reservationId, amountMinor: '1', workKey: 's' });
  await post(`/budgets/${budgetId}/void`, { reservationId: closedId, workKey: 'v' });

  const allowance = async (name: string) =>
    (await post('/allowances', { name, unitsLimit: 2, windowSeconds: 86_400 })).id;
  const [allowanceId, cooling] = [await allowance('a'), await allowance('cooling')];
  await post(`/allowances/${cooling}/cooldown`, { seconds: 3600 });
  const units = { scopeId, holder: 'h', units: 2 };
  const { id: granted } = await post(`/allowances/${await allowance('granted')}/wait`, units);
  const { id: settledId } = await post(`/allowances/${allowanceId}/consume`, { ...units, workKey: 'c' });
  await post(`/allowances/${allowanceId}/consumptions/${settledId}/settle`, { units: 2 });
  await post(`/allowances/${allowanceId}/wait`, { ...units, ttlSeconds: 3600 });

  const stoppedNote = await post('/scopes', {});
  await world.call('PUT', `/scopes/${stoppedNote.id}/notes/plan`, { value: 1 });
  await post(`/scopes/${stoppedNote.id}/cancel`);
  await world.call('PUT', `/scopes/${scopeId}/notes/plan`, { value: 1 });
  const full = randomUUID();
  await world.call('PUT', `/scopes/${full}/notes/plan`, { value: 1 });
  await store.hset(`${world.prefix}:scope:${full}`, { notes: 10_000 });
  const pool = async (units: number) => (await post('/pools', { name: `pool-${randomUUID()}`, units })).id;
  const [poolId, freePoolId] = [await pool(1), await pool(9)];
  const mine = { scopeId, holder: 'h', holderSession: 's', leaseSeconds: 600 };
  const held = await post(`/pools/${poolId}/acquire`, mine);
  await post(`/pools/${poolId}/acquire`, { ...mine, holderSession: 'other', ttlSeconds: 3600 });

  const answered = await post('/questions', { scopeId, question: 1 });
  await post(`/questions/${answered.id}/answer`, { answer: 1, answeredBy: 'ann' });
  const stoppedQuestion = await post('/scopes', {});
  await post(`/scopes/${stoppedQuestion.id}/cancel`);

  const barrier = async (target: number) => (await post('/barriers', { scopeId, target })).id;
  const [barrierId, released, cancelled] = [await barrier(9), await barrier(1), await barrier(9)];
  await post(`/barriers/${released}/arrive`, { arrivalKey: 'x' });
  await post(`/barriers/${cancelled}/cancel`);
  return {
    ...{
      receiver,
      mailboxId,
      inboxId,
      claim,
      groupId,
      pending,
      decidedId,
      judgedId,
      members,
      fullId,
      crowded,
      deepest,
    },
    ...{ stoppedId, stoppedGroupId, budgetId, reservationId, closedId, allowanceId, cooling, granted, settledId },
    ...{ barrierId, released, cancelled, scopeId, withdrawn, awaited, full, stoppedNoteId: stoppedNote.id },
    ...{ units, poolId, freePoolId, held, mine, answeredId: answered.id, stoppedQuestionId: stoppedQuestion.id },
  };
}

type Stage = Awaited<ReturnType<typeof stage>>;
type Case = readonly [tool: string, code: string, args: Args];

/** Refused as things stand. */
function always(on: Stage): Case[] {
  const none = randomUUID();
  const { receiver, mailboxId, groupId, budgetId, allowanceId, barrierId, scopeId, claim, units, reservationId } = on;
  const message = { messageId: claim.id, token: claim.token };
  const gone = { messageId: none, token: 'x' };
  const lost = { messageId: claim.id, token: 'x' };
  const send = { mailboxId, scopeId, payload: 1 };
  const create = { mailboxId, condition: 'FIRST_ACCEPTED' };
  const reserve = { budgetId, scopeId, holder: 'h', amountMinor: '1' };
  const consume = { allowanceId, ...units };
  const acquire = { poolId: on.poolId, ...on.mine };
  const stopped = { scopeId: on.stoppedId };
  const unknownMember = { groupId, taskId: none };
  const pending = { groupId, taskId: on.pending.taskId };
  const note = { scopeId, key: 'plan' };
  return [
    ['mailbox_list', 'INVALID_CURSOR', { cursor: 'x' }],
    ['mailbox_create', 'MAILBOX_CONFLICT', { name: 'letters', mode: 'WORK', unique: true }],
    ['budget_list', 'INVALID_CURSOR', { cursor: 'x' }],
    ['allowance_list', 'INVALID_CURSOR', { cursor: 'x' }],
    ['event_watch', 'INVALID_CURSOR', { cursor: 'x' }],
    ['message_recv', 'MAILBOX_NOT_FOUND', { ...receiver, mailboxId: none }],
    ['message_recv', 'RECIPIENT_MISMATCH', { ...receiver, mailboxId: on.inboxId }],
    ['message_renew', 'MESSAGE_NOT_FOUND', gone],
    ['message_renew', 'CLAIM_LOST', lost],
    ['message_renew', 'PAYLOAD_TOO_LARGE', { ...message, progress: 'x'.repeat(4097) }],
    ['message_complete', 'MESSAGE_NOT_FOUND', gone],
    ['message_complete', 'CLAIM_LOST', lost],
    ['message_complete', 'MAILBOX_NOT_FOUND', { ...message, result: { payload: 1, mailboxId: none, scopeId } }],
    ['message_nack', 'MESSAGE_NOT_FOUND', { ...gone, retry: true }],
    ['message_nack', 'CLAIM_LOST', { ...lost, retry: true }],
    ['message_send', 'MAILBOX_NOT_FOUND', { ...send, mailboxId: none }],
    ['message_send', 'SCOPE_CANCELLED', { ...send, ...stopped }],
    ['message_send', 'MESSAGE_NOT_FOUND', { ...send, after: [{ messageId: none }] }],
    ['message_send', 'GROUP_NOT_FOUND', { ...send, after: [{ groupId: none }] }],
    ['message_send', 'PREREQUISITE_FAILED', { ...send, after: [{ messageId: on.withdrawn }] }],
    ['message_send', 'DEPENDENTS_FULL', { ...send, after: [{ messageId: on.awaited }] }],
    ...[['message_send', send] as const, ['task_submit', { groupId, taskKey: 'x' }] as const].flatMap(
      ([tool, asked]): Case[] => [
        [tool, 'POOL_NOT_FOUND', { ...asked, requires: { pools: [{ poolId: none }] } }],
        [tool, 'ALLOWANCE_NOT_FOUND', { ...asked, requires: { quotas: [{ allowanceId: none, units: 1 }] } }],
        [tool, 'UNITS_EXCEED_LIMIT', { ...asked, requires: { pools: [{ poolId: on.poolId, units: 2 }] } }],
      ],
    ),
    ['message_view', 'MESSAGE_NOT_FOUND', { messageId: none }],
    ['message_cancel', 'MESSAGE_NOT_FOUND', { messageId: none }],
    ['group_create', 'MAILBOX_NOT_FOUND', { ...create, mailboxId: none }],
    ['group_create', 'MAILBOX_MODE_INVALID', { ...create, mailboxId: on.inboxId }],
    ['group_create', 'SCOPE_CANCELLED', { ...create, parentScopeId: on.stoppedId }],
    ['group_create', 'SCOPE_DEPTH_EXCEEDED', { ...create, parentScopeId: on.deepest }],
    ['group_create', 'SCOPE_CHILDREN_FULL', { ...create, parentScopeId: on.crowded }],
    ['task_submit', 'GROUP_NOT_FOUND', { groupId: none, taskKey: 'x' }],
    ['task_submit', 'SCOPE_CANCELLED', { groupId: on.stoppedGroupId, taskKey: 'x' }],
    ['task_submit', 'GROUP_NOT_OPEN', { groupId: on.decidedId, taskKey: 'x' }],
    ['task_submit', 'TASK_KEY_CONFLICT', { groupId, taskKey: 'a' }],
    ['task_submit', 'MESSAGE_NOT_FOUND', { groupId, taskKey: 'x', after: [{ messageId: none }] }],
    ['task_submit', 'PREREQUISITE_FAILED', { groupId, taskKey: 'x', after: [{ messageId: on.withdrawn }] }],
    ['task_submit', 'DEPENDENTS_FULL', { groupId, taskKey: 'x', after: [{ messageId: on.awaited }] }],
    ['task_submit', 'GROUP_FULL', { groupId: on.fullId, taskKey: 'x' }],
    ['group_seal', 'GROUP_NOT_FOUND', { groupId: none }],
    ['group_seal', 'GROUP_DECIDED', { groupId: on.decidedId }],
    ['group_view', 'GROUP_NOT_FOUND', { groupId: none }],
    ['task_accept', 'GROUP_NOT_FOUND', { ...unknownMember, groupId: none }],
    ['task_accept', 'TASK_NOT_FOUND', unknownMember],
    ['task_accept', 'TASK_NOT_SUCCEEDED', pending],
    ['task_reject', 'GROUP_NOT_FOUND', { ...unknownMember, groupId: none }],
    ['task_reject', 'TASK_NOT_FOUND', unknownMember],
    ['task_reject', 'TASK_NOT_TERMINAL', pending],
    ['task_reject', 'VERDICT_CONFLICT', { groupId: on.judgedId, taskId: on.members[1] }],
    ['budget_reserve', 'BUDGET_NOT_FOUND', { ...reserve, budgetId: none }],
    ['budget_reserve', 'WORK_KEY_CONFLICT', { ...reserve, workKey: 'r' }],
    ['budget_reserve', 'SCOPE_CANCELLED', { ...reserve, ...stopped }],
    ['budget_reserve', 'INSUFFICIENT_BUDGET', { ...reserve, amountMinor: '999999' }],
    ...(['budget_settle', 'budget_void'] as const).flatMap((tool): Case[] => {
      const amount = tool === 'budget_settle' && { amountMinor: '1' };
      const asked = { budgetId, reservationId, workKey: 'n', ...amount };
      const [used, other] = tool === 'budget_settle' ? ['s', on.closedId] : ['v', reservationId];
      return [
        [tool, 'BUDGET_NOT_FOUND', { ...asked, budgetId: none }],
        [tool, 'RESERVATION_NOT_FOUND', { ...asked, reservationId: none }],
        [tool, 'RESERVATION_CLOSED', { ...asked, reservationId: on.closedId }],
        [tool, 'WORK_KEY_CONFLICT', { ...asked, workKey: used, reservationId: other }],
      ];
    }),
    ['budget_settle', 'SETTLEMENT_EXCEEDS_RESERVATION', { budgetId, reservationId, workKey: 'n', amountMinor: '999' }],
    ['allowance_consume', 'ALLOWANCE_NOT_FOUND', { ...consume, allowanceId: none }],
    ['allowance_consume', 'WORK_KEY_CONFLICT', { ...consume, units: 1, workKey: 'c' }],
    ['allowance_consume', 'SCOPE_CANCELLED', { ...consume, ...stopped }],
    ['allowance_consume', 'UNITS_EXCEED_LIMIT', { ...consume, units: 3 }],
    ['allowance_consume', 'ALLOWANCE_COOLING_DOWN', { ...consume, allowanceId: on.cooling }],
    ['allowance_consume', 'ALLOWANCE_EXHAUSTED', consume],
    ['allowance_settle', 'ALLOWANCE_NOT_FOUND', { allowanceId: none, consumptionId: on.settledId, units: 2 }],
    ['allowance_settle', 'CONSUMPTION_NOT_FOUND', { allowanceId, consumptionId: none, units: 2 }],
    ['allowance_settle', 'CONSUMPTION_SETTLED', { allowanceId, consumptionId: on.settledId, units: 1 }],
    ['allowance_wait', 'ALLOWANCE_NOT_FOUND', { ...consume, allowanceId: none }],
    ['allowance_wait', 'SCOPE_CANCELLED', { ...consume, ...stopped }],
    ['allowance_wait', 'UNITS_EXCEED_LIMIT', { ...consume, units: 3 }],
    ['waiter_view', 'WAITER_NOT_FOUND', { waiterId: none }],
    ['waiter_renew', 'WAITER_NOT_FOUND', { waiterId: none }],
    ['waiter_cancel', 'WAITER_NOT_FOUND', { waiterId: none }],
    ['waiter_cancel', 'WAITER_NOT_WAITING', { waiterId: on.granted }],
    ['allowance_cooldown', 'ALLOWANCE_NOT_FOUND', { allowanceId: none, seconds: 1 }],
    ['barrier_create', 'SCOPE_CANCELLED', { ...stopped, target: 2 }],
    ['waiter_renew', 'WAITER_NOT_WAITING', { waiterId: on.granted }],
    ['pool_list', 'INVALID_CURSOR', { cursor: 'x' }],
    ['pool_acquire', 'POOL_NOT_FOUND', { ...acquire, poolId: none }],
    ['pool_acquire', 'UNITS_EXCEED_LIMIT', { ...acquire, units: 2 }],
    ['pool_acquire', 'SCOPE_CANCELLED', { ...acquire, ...stopped }],
    ['pool_acquire', 'DEADLOCK', acquire],
    ['pool_acquire', 'POOL_EXHAUSTED', { ...acquire, ttlSeconds: 0 }],
    ['hold_view', 'HOLD_NOT_FOUND', { holdId: none }],
    ['hold_renew', 'HOLD_NOT_FOUND', { holdId: none, token: 'x' }],
    ['hold_renew', 'CLAIM_LOST', { holdId: on.held.id, token: 'x' }],
    ['hold_renew', 'HOLD_NOT_WAITING', { holdId: on.held.id }],
    ['hold_release', 'HOLD_NOT_FOUND', { holdId: none, token: 'x' }],
    ['hold_release', 'CLAIM_LOST', { holdId: on.held.id, token: 'x' }],
    ['hold_cancel', 'HOLD_NOT_FOUND', { holdId: none }],
    ['hold_cancel', 'HOLD_NOT_WAITING', { holdId: on.held.id }],
    ['message_ask', 'MESSAGE_NOT_FOUND', { ...gone, question: 1 }],
    ['message_ask', 'CLAIM_LOST', { ...lost, question: 1 }],
    ['message_ask', 'PAYLOAD_TOO_LARGE', { ...message, question: 'x'.repeat(4096) }],
    ['message_suspend', 'MESSAGE_NOT_FOUND', { ...gone, delaySeconds: 1 }],
    ['message_suspend', 'CLAIM_LOST', { ...lost, delaySeconds: 1 }],
    ['message_suspend', 'PAYLOAD_TOO_LARGE', { ...message, delaySeconds: 1, progress: 'x'.repeat(4096) }],
    ['message_suspend', 'DEPENDENTS_FULL', { ...message, after: [{ messageId: on.awaited }] }],
    ['message_suspend', 'GROUP_NOT_FOUND', { ...message, after: [{ groupId: none }] }],
    ['message_suspend', 'SCOPE_NOT_FOUND', { ...message, after: [{ scopeId: none }] }],
    ['message_send', 'SCOPE_NOT_FOUND', { ...send, after: [{ scopeId: none }] }],
    ['task_submit', 'SCOPE_NOT_FOUND', { groupId, taskKey: 'after', after: [{ scopeId: none }] }],
    ['question_create', 'SCOPE_CANCELLED', { scopeId: on.stoppedQuestionId, question: 1 }],
    ['question_create', 'PAYLOAD_TOO_LARGE', { scopeId, question: 'x'.repeat(4096) }],
    ['question_list', 'INVALID_CURSOR', { cursor: 'x' }],
    ['question_view', 'QUESTION_NOT_FOUND', { questionId: none }],
    ['question_withdraw', 'QUESTION_NOT_FOUND', { questionId: none }],
    ['question_withdraw', 'QUESTION_CLOSED', { questionId: on.answeredId }],
    ['barrier_arrive', 'BARRIER_NOT_FOUND', { barrierId: none, arrivalKey: 'a' }],
    ['barrier_arrive', 'EPOCH_MISMATCH', { barrierId, arrivalKey: 'a', epoch: 7 }],
    ['barrier_arrive', 'BARRIER_RELEASED', { barrierId: on.released, arrivalKey: 'a' }],
    ['barrier_arrive', 'BARRIER_CANCELLED', { barrierId: on.cancelled, arrivalKey: 'a' }],
    ['barrier_view', 'BARRIER_NOT_FOUND', { barrierId: none }],
    ['note_put', 'MESSAGE_NOT_FOUND', { ...note, ...gone, value: 1 }],
    ['note_put', 'CLAIM_LOST', { ...note, ...lost, value: 1 }],
    ['note_put', 'VERSION_CONFLICT', { ...note, value: 1, ifVersion: 7 }],
    ['note_put', 'SCOPE_CANCELLED', { ...note, scopeId: on.stoppedNoteId, value: 1 }],
    ['note_put', 'NOTES_FULL', { scopeId: on.full, key: 'another', value: 1 }],
    ['note_view', 'NOTE_NOT_FOUND', { ...note, key: 'none' }],
    ['note_list', 'INVALID_CURSOR', { scopeId, cursor: 'x' }],
    ['note_delete', 'NOTE_NOT_FOUND', { ...note, key: 'none' }],
    ['note_delete', 'VERSION_CONFLICT', { ...note, ifVersion: 7 }],
    ['note_delete', 'SCOPE_CANCELLED', { ...note, scopeId: on.stoppedNoteId }],
    ['run_view', 'SCOPE_NOT_FOUND', { scopeId: none }],
    [
      'batch',
      'EXPECTATION_FAILED',
      { atomic: true, calls: [{ call: 'barrier.view', barrierId, expect: { state: 'RELEASED' } }] },
    ],
    ['scope_cancel', 'SCOPE_NOT_FOUND', { scopeId: none }],
  ];
}

/** New work, each in a run of its own. */
function newWork(on: Stage): Record<string, Args> {
  const scopeId = randomUUID();
  const { mailboxId, groupId, budgetId, cooling: allowanceId, receiver } = on;
  return {
    message_recv: { ...receiver, mailboxId },
    message_send: { mailboxId, scopeId, payload: 1 },
    group_create: { mailboxId, condition: 'FIRST_ACCEPTED', parentScopeId: scopeId },
    task_submit: { groupId, taskKey: randomUUID() },
    budget_reserve: { budgetId, scopeId, holder: 'h', amountMinor: '1' },
    allowance_consume: { allowanceId, scopeId, holder: 'h', units: 1 },
    allowance_wait: { allowanceId, scopeId, holder: 'h', units: 1 },
    note_put: { scopeId, key: 'plan', value: 1 },
    note_delete: { scopeId: on.scopeId, key: 'plan' },
    question_create: { scopeId, question: 1 },
    pool_acquire: { poolId: on.freePoolId, scopeId, holder: 'h', ttlSeconds: 0 },
    mailbox_create: { name: 'more' },
    barrier_create: { scopeId, target: 2 },
    allowance_cooldown: { allowanceId: on.allowanceId, seconds: 60 },
  };
}

describe('Every refusal that a tool’s route declares', () => {
  let world: World;
  let on: Stage;
  let agents: readonly Agent[];
  const seen = new Set<string>();

  before(async () => {
    world = await World.create();
    on = await stage(world);
    agents = await Promise.all(versions.map((version) => Agent.connect(world, { version })));
  });
  after(() => Promise.all(agents.map((agent) => agent.close())));

  /** Refused over REST, then over MCP, with the same envelope. */
  async function refused([tool, code, args]: Case): Promise<void> {
    const rest = await overRest(world, tool, args);
    expect(rest.body?.error?.code, `${tool} over REST: ${rest.text}`).to.equal(code);
    const agent = agents[seen.size % agents.length] as Agent;
    const { isError, value } = await agent.call(tool, args);
    const { requestId, ...refusal } = value.error;
    const { requestId: _other, ...expected } = rest.body.error;
    expect({ isError, ...refusal }, tool).to.deep.equal({ isError: true, ...expected });
    expect(requestId).to.match(/^[0-9a-f-]{36}$/);
    const retryAfter = rest.headers.get('Retry-After');
    expect(value.retryAfter === undefined, `${tool} ${code}`).to.equal(retryAfter === null);
    if (retryAfter !== null) expect(value.retryAfter).to.be.within(Number(retryAfter) - 5, Number(retryAfter) + 5);
    seen.add(`${tool} ${code}`);
  }

  async function limited(limits: Record<string, number>, cases: readonly Case[]): Promise<void> {
    expect((await world.call('PUT', '/limits', limits)).status).to.equal(200);
    for (const one of cases) await refused(one);
    const none = Object.fromEntries(Object.keys(limits).map((name) => [name, null]));
    expect((await world.call('PUT', '/limits', none)).status).to.equal(200);
  }

  async function planned(figures: Record<string, string>, cases: readonly Case[]): Promise<void> {
    const plan = { org: world.org, plan: 'enterprise' };
    await setPlan(world.service, { ...plan, figures });
    for (const one of cases) await refused(one);
    await setPlan(world.service, plan);
  }

  const refusing = (code: string, tools: readonly string[], more: Args = {}): Case[] =>
    tools.map((tool) => [tool, code, { ...newWork(on)[tool], ...more }]);

  it('is a tool error with the envelope that REST answers', async () => {
    for (const one of always(on)) await refused(one);
    // A member that was rejected cannot be accepted.
    const groupId = await agents[0]?.mustCall('group_create', { mailboxId: on.mailboxId, condition: 'ALL_TERMINAL' });
    const { taskId } = await world.mustPost(`/task-groups/${groupId.id}/tasks`, { taskKey: 'r' });
    const scopeId = groupId.scopeId;
    const taken = await world.mustPost(`/mailboxes/${on.mailboxId}/recv`, { ...on.receiver, scopeId });
    await world.mustPost(`/messages/${taken.id}/nack`, { token: taken.token, retry: false });
    await world.mustPost(`/task-groups/${groupId.id}/tasks/${taskId}/reject`);
    await refused(['task_accept', 'VERDICT_CONFLICT', { groupId: groupId.id, taskId }]);
    // A member that is worked on when its group is decided, and a message that has asked a hundred times.
    const early = await world.mustPost('/task-groups', { mailboxId: on.mailboxId, condition: 'FIRST_ACCEPTED' });
    const submit = (taskKey: string) => world.mustPost(`/task-groups/${early.groupId}/tasks`, { taskKey });
    const [first] = [await submit('first'), await submit('second')];
    const take = () => world.mustPost(`/mailboxes/${on.mailboxId}/recv`, { ...on.receiver, scopeId: early.scopeId });
    const [done, late] = [await take(), await take()];
    await world.mustPost(`/messages/${done.id}/complete`, { token: done.token });
    await world.mustPost(`/task-groups/${early.groupId}/tasks/${first.taskId}/accept`);
    await refused(['message_ask', 'GROUP_DECIDED', { messageId: late.id, token: late.token, question: 1 }]);
    await refused(['message_suspend', 'GROUP_DECIDED', { messageId: late.id, token: late.token, delaySeconds: 1 }]);
    const ids = Array.from({ length: 100 }, () => ['0', randomUUID()]).flat();
    const asked = `${world.prefix}:message:${on.claim.id}:questions`;
    await world.service.store.zadd(asked, ...ids);
    await refused(['message_ask', 'QUESTIONS_FULL', { messageId: on.claim.id, token: on.claim.token, question: 1 }]);
    await world.service.store.del(asked);
    const sleep = { messageId: on.claim.id, token: on.claim.token, delaySeconds: 1 };
    await world.service.store.hset(`${world.prefix}:message:${on.claim.id}`, 'suspensions', '1000');
    await refused(['message_suspend', 'SUSPENSIONS_FULL', sleep]);
    await world.service.store.hdel(`${world.prefix}:message:${on.claim.id}`, 'suspensions');
  });

  it('refusals by the limits of the space are tool errors, too', async () => {
    await limited({ maxBacklog: 1 }, refusing('BACKLOG_FULL', ['message_send', 'task_submit']));
    await limited({ maxArmedTimers: 1 }, [
      ...refusing('TIMERS_FULL', ['message_send', 'group_create', 'task_submit'], { deadline }),
      ...refusing('TIMERS_FULL', ['budget_reserve'], { settleBy: deadline }),
      ...refusing('TIMERS_FULL', ['question_create']),
    ]);
    await limited({ maxPendingWaiters: 1 }, [
      ...refusing('WAITERS_FULL', ['allowance_wait'], on.units),
      ...refusing('WAITERS_FULL', ['pool_acquire'], { poolId: on.poolId, ttlSeconds: 60 }),
    ]);
    const claim = { messageId: on.claim.id, token: on.claim.token };
    await limited({ maxRetainedBytes: 1 }, [
      ...refusing('RETAINED_BYTES_EXCEEDED', ['message_send', 'task_submit', 'question_create', 'note_put']),
      ['message_ask', 'RETAINED_BYTES_EXCEEDED', { ...claim, question: 1 }],
    ]);
    await limited({ maxPayloadBytes: 100 }, [
      ...refusing('PAYLOAD_TOO_LARGE', ['message_send'], { payload: large }),
      ...refusing('PAYLOAD_TOO_LARGE', ['task_submit'], { input: large }),
      ...refusing('PAYLOAD_TOO_LARGE', ['note_put'], { value: large }),
      ['message_complete', 'PAYLOAD_TOO_LARGE', { ...claim, result: { payload: large } }],
    ]);
    await limited({ maxLeaseSeconds: 10 }, [
      ...refusing('LEASE_LIMIT_EXCEEDED', ['message_recv', 'pool_acquire'], { leaseSeconds: 60 }),
      ['hold_renew', 'LEASE_LIMIT_EXCEEDED', { holdId: on.held.id, token: on.held.token, leaseSeconds: 60 }],
      ['message_renew', 'LEASE_LIMIT_EXCEEDED', { ...claim, leaseSeconds: 60 }],
    ]);
  });

  it('refusals by the plan are tool errors, too', async () => {
    const inNewRuns = [
      'message_send',
      'group_create',
      'budget_reserve',
      'allowance_consume',
      'allowance_wait',
      'note_put',
      'pool_acquire',
      'question_create',
      'barrier_create',
    ];
    const note = { scopeId: randomUUID(), key: 'go', sinceVersion: 0 };
    await planned({ runs: '1' }, [
      ...refusing('ACTIVE_RUNS_LIMITED', inNewRuns),
      ['message_suspend', 'ACTIVE_RUNS_LIMITED', { messageId: on.claim.id, token: on.claim.token, note }],
    ]);
    await planned({ tasks: '1' }, refusing('ACTIVE_TASKS_LIMITED', ['message_send', 'task_submit']));
    await planned({ agents: '1' }, [
      ...refusing('CONCURRENCY_LIMITED', ['message_recv', 'pool_acquire']),
      ...refusing('ENTITLEMENT_EXCEEDED', ['pool_acquire'], { units: 2 }),
    ]);
    // Only the free plan ends with its operations; it has few requests a minute, so in a new one.
    await world.at(Date.now() + 120_000);
    await setPlan(world.service, { org: world.org, plan: 'free' });
    await world.service.store.hset(`muster:{${world.org}}`, { usedOperations: 100_000 });
    for (const one of refusing('OPERATIONS_EXHAUSTED', Object.keys(newWork(on)))) await refused(one);
    await setPlan(world.service, { org: world.org, plan: 'enterprise' });
  });

  it('the refusal of damaged events is a tool error, too', async () => {
    const { org, spaceId, prefix, service } = world;
    await service.packing.packSpace(org, spaceId, undefined, { sealAfterMs: 0, isAll: true });
    const [[last] = ['']] = await service.store.xrange(`${prefix}:eventSegments`, '-', '+');
    const segment = `${prefix}:eventSegment:${last}`;
    const content = await service.store.getBuffer(segment);
    await service.store.set(segment, 'garbage');
    await refused(['event_watch', 'EVENTS_DAMAGED', {}]);
    await service.store.set(segment, content ?? '');
  });

  it('the refusal of a damaged finished message is a tool error, too', async () => {
    const { org, spaceId, prefix, service } = world;
    const send = { scopeId: randomUUID(), payload: 1, workKey: 'damaged' };
    await world.mustPost(`/mailboxes/${on.mailboxId}/messages`, send);
    const claim = await world.mustPost(`/mailboxes/${on.mailboxId}/recv`, { ...on.receiver, scopeId: send.scopeId });
    const held = { messageId: claim.id, token: claim.token };
    await world.mustPost(`/messages/${claim.id}/complete`, { token: claim.token });
    await refused(['message_cancel', 'MESSAGE_FINISHED', { messageId: claim.id }]);
    await refused(['message_complete', 'RESULT_CONFLICT', { ...held, result: { payload: 'another' } }]);
    const now = { sealAfterMs: 0, isAll: true, patienceMs: 0 };
    await service.packing.packMessages(org, spaceId, undefined, now);
    await service.store.set(`${prefix}:messageSegment:1`, 'garbage');
    await refused(['message_view', 'MESSAGES_DAMAGED', { messageId: claim.id }]);
    await refused(['message_cancel', 'MESSAGES_DAMAGED', { messageId: claim.id }]);
    for (const tool of ['message_renew', 'message_complete']) await refused([tool, 'MESSAGES_DAMAGED', held]);
    await refused(['note_put', 'MESSAGES_DAMAGED', { ...held, scopeId: on.scopeId, key: 'plan', value: 1 }]);
    await refused(['message_nack', 'MESSAGES_DAMAGED', { ...held, retry: true }]);
    await refused(['message_ask', 'MESSAGES_DAMAGED', { ...held, question: 1 }]);
    await refused(['message_suspend', 'MESSAGES_DAMAGED', { ...held, delaySeconds: 1 }]);
    await refused(['message_send', 'MESSAGES_DAMAGED', { ...send, mailboxId: on.mailboxId }]);
    const after = [{ messageId: claim.id }];
    await refused(['task_submit', 'MESSAGES_DAMAGED', { groupId: on.groupId, taskKey: 'damaged', after }]);
    await refused(['group_view', 'MESSAGES_DAMAGED', { groupId: on.decidedId }]);
    await service.store.del(`${prefix}:messageSegment:1`);
    await refused(['message_view', 'MESSAGES_DAMAGED', { messageId: claim.id }]);
  });

  it('refusals by time are tool errors, too: a cursor that has expired', async () => {
    const { nextCursor } = await (agents[0] as Agent).mustCall('event_watch', { limit: 1 });
    await world.service.store.hset(`muster:{${world.org}}`, 'epoch', 'another');
    await refused(['event_watch', 'CURSOR_EXPIRED', { cursor: nextCursor }]);
  });

  it('all of them were seen', () => {
    // Those of the tool that makes two calls are those of the calls.
    const declared = toolNames.flatMap((tool) =>
      tool === sendAndWait ? [] : routeOf(tool).refuses.map((code) => `${tool} ${code}`),
    );
    expect(declared.filter((pair) => !seen.has(pair))).to.deep.equal([]);
    expect(declared).to.have.length.above(80);
  });
});
