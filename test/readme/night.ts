import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Access, type Answer, call, until } from '../support/processes.ts';

const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';
const busy = { scopeId, holder: 'agent-7', holderSession: 'host-3', leaseSeconds: 600 };

/** The ids used in the recipes, by the names of their variables. */
export type Ids = Readonly<Record<string, string>>;

/**
 * Fills a space with situations that an operator may have to examine at night; the receiver of its webhooks answers
 * 503.
 */
export async function fillSpace(url: string, access: Access): Promise<{ ids: Ids; receiver: Server }> {
  const post = async (path: string, body: unknown = {}): Promise<Answer['body']> =>
    (await call(url, access, path, body)).body;
  const mailbox = (await post('/mailboxes', { name: 'jobs' })).id;
  for (const file of ['a.txt', 'b.txt']) await post(`/mailboxes/${mailbox}/messages`, { scopeId, payload: { file } });
  const message = (await post(`/mailboxes/${mailbox}/recv`, busy)).id;

  const allowance = (await post('/allowances', { name: 'search-api', unitsLimit: 100, windowSeconds: 31_536_000 })).id;
  await post(`/allowances/${allowance}/consume`, { scopeId, units: 80, holder: 'agent-1' });
  const wait = { scopeId, holder: 'agent-2', units: 30, ttlSeconds: 3600 };
  const head = (await post(`/allowances/${allowance}/wait`, wait)).waiterId;
  const waiter = (await post(`/allowances/${allowance}/wait`, { ...wait, holder: 'agent-3', units: 5 })).waiterId;
  await post(`/allowances/${allowance}/consume`, { scopeId, units: 1, holder: 'agent-4' });

  const members = (await post('/mailboxes', { name: 'reviews' })).id;
  const created = await post('/task-groups', { mailboxId: members, condition: 'N_ACCEPTED', threshold: 2 });
  for (const taskKey of ['ann', 'bob', 'eve']) await post(`/task-groups/${created.groupId}/tasks`, { taskKey });
  await post(`/task-groups/${created.groupId}/seal`);
  const done = await post(`/mailboxes/${members}/recv`, { ...busy, scopeId: created.scopeId });
  await post(`/messages/${done.id}/complete`, { token: done.token });
  await post(`/task-groups/${created.groupId}/tasks/${done.taskId}/accept`);

  const barrier = (await post('/barriers', { scopeId, target: 3 })).id;
  await post(`/barriers/${barrier}/arrive`, { arrivalKey: 'agent-1' });

  const budget = (await post('/budgets', { name: 'llm-tokens', currency: 'EUR', scale: 2, limitMinor: '10000' })).id;
  const reserve = { scopeId, holder: 'agent-7', amountMinor: '2500' };
  const reservationId = (await post(`/budgets/${budget}/reserve`, reserve)).id;
  await post(`/budgets/${budget}/settle`, { reservationId, amountMinor: '1999', workKey: 'invoice-17' });
  await post(`/budgets/${budget}/reserve`, { ...reserve, amountMinor: '9000' });

  const pauses = (await post('/mailboxes', { name: 'summaries', retryDelaySeconds: 600 })).id;
  const giveBack = async (retry: boolean, error: string): Promise<void> => {
    await post(`/mailboxes/${pauses}/messages`, { scopeId, payload: 1 });
    const { id, token } = await post(`/mailboxes/${pauses}/recv`, busy);
    await post(`/messages/${id}/nack`, { token, retry, error });
  };
  await giveBack(true, '429 of the model');
  await giveBack(false, 'the file is gone');
  const accounts = (await post('/mailboxes', { name: 'accounts', perKey: 1, retryDelaySeconds: 600 })).id;
  for (const payload of [1, 2]) await post(`/mailboxes/${accounts}/messages`, { scopeId, payload, key: 'customer-42' });
  const charge = await post(`/mailboxes/${accounts}/recv`, busy);
  await post(`/messages/${charge.id}/nack`, { token: charge.token, retry: true });

  const stopped = (await post('/scopes', { name: 'nightly' })).id;
  await post(`/mailboxes/${pauses}/messages`, { scopeId: stopped, payload: 1 });
  const spare = (await post('/budgets', { name: 'spare', currency: 'EUR', scale: 2, limitMinor: '100' })).id;
  await post(`/budgets/${spare}/reserve`, { scopeId: stopped, holder: 'agent-7', amountMinor: '5' });
  await post(`/scopes/${stopped}/cancel`);

  const receiver = createServer((_request, response) => response.writeHead(503, { 'Retry-After': '600' }).end());
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  const hook = { url: `http://127.0.0.1:${port}/hooks`, eventTypes: ['mailbox.created'] };
  const destination = (await post('/destinations', hook)).id;
  await post('/mailboxes', { name: 'nightly' });
  await until(async () => (await call(url, access, '/deliveries')).body.deliveries.length === 1);

  const ids = { RUN: scopeId, MAILBOX: mailbox, MESSAGE: message, HEAD: head, WAITER: waiter, GROUP: created.groupId };
  const more = {
    BARRIER: barrier,
    BUDGET: budget,
    DESTINATION: destination,
    PAUSES: pauses,
    ACCOUNTS: accounts,
    STOPPED: stopped,
  };
  return { ids: { ...ids, ...more, PORT: String(port) }, receiver };
}
