import createClient from 'openapi-fetch';
import type { paths } from '../generated/openapi-typescript.ts';
import type { Access, Outcome } from './outcome.ts';

/** Sends, receives and completes a message, reserves money and settles it, with openapi-typescript and openapi-fetch. */
export async function run({ url, key, spaceId, runId }: Access): Promise<Outcome> {
  const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${key}` } });
  const keyed = () => ({ path: { spaceId }, header: { 'Idempotency-Key': crypto.randomUUID() } });
  const post = client.POST;

  const { data: mailbox } = await post('/v1/spaces/{spaceId}/mailboxes', {
    params: keyed(),
    body: { name: 'openapi-fetch' },
  });
  const mailboxId = mailbox?.id ?? '';
  const messages = { params: { ...keyed(), path: { spaceId, mailboxId } } };
  const sent = await post('/v1/spaces/{spaceId}/mailboxes/{mailboxId}/messages', {
    ...messages,
    body: { scopeId: runId, payload: { page: 7 } },
  });
  const { data: claim } = await post('/v1/spaces/{spaceId}/mailboxes/{mailboxId}/recv', {
    params: { path: { spaceId, mailboxId } },
    body: { scopeId: '*', holder: 'h', holderSession: 's' },
  });
  if (!claim || !('token' in claim)) throw new Error('nothing was received');
  const { data: completed } = await post('/v1/spaces/{spaceId}/messages/{messageId}/complete', {
    params: { ...keyed(), path: { spaceId, messageId: claim.id } },
    body: { token: claim.token, result: { payload: 1 } },
  });

  const { data: budget } = await post('/v1/spaces/{spaceId}/budgets', {
    params: keyed(),
    body: { name: 'openapi-fetch', currency: 'EUR', scale: 2, limitMinor: '1000' },
  });
  const params = { ...keyed(), path: { spaceId, budgetId: budget?.id ?? '' } };
  const { data: reservation } = await post('/v1/spaces/{spaceId}/budgets/{budgetId}/reserve', {
    params,
    body: { scopeId: runId, holder: 'h', amountMinor: '100', workKey: 'r' },
  });
  const { data: settled } = await post('/v1/spaces/{spaceId}/budgets/{budgetId}/settle', {
    params: { ...params, ...{ header: keyed().header } },
    body: { reservationId: reservation?.id ?? '', amountMinor: '40', workKey: 's' },
  });
  const { error } = await client.GET('/v1/spaces/{spaceId}/messages/{messageId}', {
    params: { path: { spaceId, messageId: crypto.randomUUID() } },
  });
  return {
    sent: sent.data?.state,
    received: claim.payload,
    completed: completed?.state,
    settledMinor: settled?.balances.settled,
    refused: error?.error.code,
  };
}
