// Fills the store of a running service (MUSTER_URL, MUSTER_SPACE, MUSTER_KEY) with something of everything, and prints the
// ids. How the files here were made, with the commit that they are named after: README.md.
const { MUSTER_URL = '', MUSTER_SPACE = '', MUSTER_KEY = '' } = process.env;
const base = `${MUSTER_URL}/v1/spaces/${MUSTER_SPACE}`;
let calls = 0;

interface Body {
  readonly id: string;
  readonly token: string;
  readonly taskId: string;
  readonly scopeId: string;
}

async function post(path: string, body: object = {}): Promise<Body> {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${MUSTER_KEY}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': `make-${calls++}`,
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
  }),
);
