// Fills the store of a running service (MUSTER_URL, MUSTER_SPACE, MUSTER_KEY) with something of everything, and prints
// the ids. README.md says how the files here were made, and which commit each is named after.
const { MUSTER_URL = '', MUSTER_SPACE = '', MUSTER_KEY = '' } = process.env;
const base = `${MUSTER_URL}/v1/spaces/${MUSTER_SPACE}`;
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
let calls = 0;

interface Body {
  readonly id: string;
  readonly token: string;
  readonly taskId: string;
  readonly scopeId: string;
  readonly apiKey: string;
  readonly consumptions: readonly { readonly id: string }[];
  readonly question: { readonly id: string };
}

const post = (path: string, body: object = {}): Promise<Body> => call('POST', path, body);

async function call(method: string, path: string, body: object): Promise<Body> {
  const response = await fetch(path.startsWith('/v1/') ? MUSTER_URL + path : base + path, {
    method,
    headers: {
      Authorization: `Bearer ${MUSTER_KEY}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': `make-${calls++}`,
      traceparent,
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${text}`);
  return text === '' ? ({} as Body) : JSON.parse(text);
}

const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';
const stopped = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a11';
const agent = { scopeId, holder: 'agent', holderSession: 'session' };

const mailbox = await post('/mailboxes', { name: 'work', maxAttempts: 3 });
const send = (fields: object = {}) =>
  post(`/mailboxes/${mailbox.id}/messages`, { scopeId, payload: { long: 'x'.repeat(200) }, ...fields });
const receive = () => post(`/mailboxes/${mailbox.id}/recv`, { ...agent, leaseSeconds: 600 });
const done = await send({ workKey: 'done' });
await post(`/messages/${done.id}/complete`, { token: (await receive()).token, result: { payload: [1] } });
const refused = await send();
await post(`/messages/${refused.id}/nack`, { token: (await receive()).token, retry: false, error: 'no' });
const claimed = await send();
const claim = await receive();
const ready = await send({ workKey: 'ready' });
const delayed = await send({ delaySeconds: 3600, deadline: new Date(Date.now() + 7_200_000).toISOString() });

const group = await post('/task-groups', {
  parentScopeId: scopeId,
  mailboxId: mailbox.id,
  condition: 'N_ACCEPTED',
  threshold: 2,
});
const task = await post(`/task-groups/${group.id}/tasks`, { taskKey: 'one', input: 1 });
const barrier = await post('/barriers', { scopeId, target: 2 });
await post(`/barriers/${barrier.id}/arrive`, { arrivalKey: 'a' });
const budget = await post('/budgets', { name: 'money', currency: 'EUR', scale: 2, limitMinor: '1000' });
const reservation = await post(`/budgets/${budget.id}/reserve`, {
  scopeId,
  holder: 'agent',
  amountMinor: '100',
  workKey: 'r',
});
await post(`/budgets/${budget.id}/settle`, { reservationId: reservation.id, amountMinor: '40', workKey: 's' });
const allowance = await post('/allowances', { name: 'calls', unitsLimit: 10, windowSeconds: 31_536_000 });
await post(`/allowances/${allowance.id}/consume`, { scopeId, units: 8, holder: 'agent', workKey: 'c' });
const waiter = await post(`/allowances/${allowance.id}/wait`, { scopeId, units: 5, holder: 'agent', ttlSeconds: 3600 });
const schedule = await post('/schedules', {
  name: 'daily',
  mailboxId: mailbox.id,
  scopeId,
  payload: {},
  cron: '0 6 * * *',
});
await post('/scopes', { scopeId: stopped, name: 'stopped' });
await post(`/mailboxes/${mailbox.id}/messages`, { scopeId: stopped, payload: 1 });
await post(`/scopes/${stopped}/cancel`);

// Messages that wait, each for something else.
const inbox = await post('/mailboxes', { name: 'waiting', perKey: 1 });
const wait = (fields: object = {}) => post(`/mailboxes/${inbox.id}/messages`, { scopeId, payload: 1, ...fields });
const take = () => post(`/mailboxes/${inbox.id}/recv`, { ...agent, leaseSeconds: 600 });
const pool = await post('/pools', { name: 'tools', units: 2 });
const quota = await post('/allowances', { name: 'tokens', unitsLimit: 100, windowSeconds: 31_536_000 });
const requires = { pools: [{ poolId: pool.id, units: 2 }], quotas: [{ allowanceId: quota.id, units: 10 }] };
const equipped = await wait({ requires });
const using = await take();
await post(`/allowances/${quota.id}/consumptions/${using.consumptions[0]?.id}/settle`, { units: 7 });
await post(`/allowances/${quota.id}/observe`, { remainingUnits: 80 });
const short = await wait({ requires, priority: 9 });
await post(`/mailboxes/${inbox.id}/recv`, { ...agent, max: 5 }).catch(() => undefined);
const follower = await wait({ after: [{ messageId: equipped.id }], onFailure: 'WAIT' });
const ofGroup = await wait({ after: [{ groupId: group.id }], onFailure: 'RUN' });
const keyed = await wait({ key: 'k' });
const keyedClaim = await take();
const behind = await wait({ key: 'k' });
const asker = await wait({ delaySeconds: 0 });
const { question } = await post(`/messages/${asker.id}/ask`, { token: (await take()).token, question: 'Go on?' });
const hinted = await wait();
const { question: answered } = await post(`/messages/${hinted.id}/ask`, { token: (await take()).token, question: 1 });
await post(`/questions/${answered.id}/answer`, {
  answer: { long: 12345678901234567890n.toString() },
  answeredBy: 'ann',
});
const asked = await post('/questions', { scopeId, question: 'By itself?', options: ['yes', 'no'] });

const lock = await post('/pools', { name: 'lock', units: 1 });
const acquire = () =>
  post(`/pools/${lock.id}/acquire`, { scopeId, holder: 'agent', leaseSeconds: 600, ttlSeconds: 3600 });
const [held, queued] = [await acquire(), await acquire()];
const fleet = { currency: 'EUR', scale: 2, limitMinor: '100', windowSeconds: 31_536_000, alertPercents: [50, 90] };
const root = await post('/budgets', { name: 'fleet', ...fleet });
const { windowSeconds: _, ...team } = fleet;
const branch = await post('/budgets', { name: 'team', ...team, limitMinor: '50', parentBudgetId: root.id });
const spend = async (amountMinor: string, settled: object) => {
  const { id } = await post(`/budgets/${branch.id}/reserve`, { scopeId, holder: 'agent', amountMinor });
  await post(`/budgets/${branch.id}/settle`, { reservationId: id, workKey: id, ...settled });
  return id;
};
const open = await spend('20', { amountMinor: '5', label: 'drafts' });
await spend('20', { amountMinor: '60', label: 'reviews', overrun: true });
await call('PUT', `/scopes/${scopeId}/notes/plan`, { value: { steps: [1, 2] } });
await call('PUT', `/scopes/${scopeId}/notes/fenced`, { value: 1, messageId: equipped.id, token: using.token });
const paused = await post('/mailboxes', { name: 'paused' });
await post(`/mailboxes/${paused.id}/messages`, { scopeId, payload: 1 });
await post(`/mailboxes/${paused.id}/pause`);
const repeatable = await post('/task-groups', { mailboxId: mailbox.id, condition: 'ALL_TERMINAL', workKey: 'group' });
// An atomic batch: its answer is kept for repetitions.
const atomicKey = `make-${calls}`;
const atomic = {
  atomic: true,
  calls: [
    { call: 'note.put', scopeId, key: 'deal', value: 1 },
    { call: 'message.send', mailboxId: inbox.id, scopeId, payload: 1, after: [{ messageId: equipped.id }] },
    { call: 'budget.view', budgetId: root.id, expect: { balances: { reserved: '15' } } },
  ],
};
await post('/batch', atomic);
const passing = await post('/v1/keys', { permissions: ['coordination_read'], expiresInDays: 1 });

console.log(
  JSON.stringify({
    ...{
      spaceId: MUSTER_SPACE,
      apiKey: MUSTER_KEY,
      scopeId,
      stopped,
      mailbox: mailbox.id,
      at: new Date().toISOString(),
    },
    messages: { done: done.id, refused: refused.id, claimed: claimed.id, ready: ready.id, delayed: delayed.id },
    token: claim.token,
    ...{ group: group.id, task: task.taskId, barrier: barrier.id, budget: budget.id, reservation: reservation.id },
    ...{ allowance: allowance.id, waiter: waiter.id, schedule: schedule.id },
    waiting: {
      ...{ mailbox: inbox.id, equipped: equipped.id, short: short.id, follower: follower.id, ofGroup: ofGroup.id },
      ...{ keyed: keyed.id, behind: behind.id, asker: asker.id, hinted: hinted.id },
      ...{ token: using.token, keyedToken: keyedClaim.token, consumption: using.consumptions[0]?.id },
      ...{ pool: pool.id, quota: quota.id, lock: lock.id, held: held.id, heldToken: held.token, queued: queued.id },
      ...{ question: question.id, asked: asked.id, root: root.id, branch: branch.id, open, paused: paused.id },
      ...{ repeatable: repeatable.id, atomicKey, atomic, key: passing.apiKey },
    },
  }),
);
