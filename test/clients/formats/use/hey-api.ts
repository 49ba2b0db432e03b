import { createClient } from '../generated/hey-api/client/index.ts';
import {
  budgetCreate,
  budgetReserve,
  budgetSettle,
  mailboxCreate,
  messageComplete,
  messageRecv,
  messageSend,
  messageView,
} from '../generated/hey-api/index.ts';
import type { Access, Outcome } from './outcome.ts';

/** Sends, receives and completes a message, reserves money and settles it, with the client of hey-api. */
export async function run({ url, key, spaceId, runId }: Access): Promise<Outcome> {
  const client = createClient({ baseUrl: url, auth: key });
  const keyed = () => ({ client, headers: { 'Idempotency-Key': crypto.randomUUID() } });

  const mailbox = await mailboxCreate({ ...keyed(), path: { spaceId }, body: { name: 'hey-api' } });
  const mailboxId = mailbox.data?.id ?? '';
  const body = { scopeId: runId, payload: { page: 7 } };
  const sent = await messageSend({ ...keyed(), path: { spaceId, mailboxId }, body });
  const { data: claim } = await messageRecv({
    client,
    path: { spaceId, mailboxId },
    body: { scopeId: '*', holder: 'h', holderSession: 's' },
  });
  if (!claim || !('token' in claim)) throw new Error('nothing was received');
  const completed = await messageComplete({
    ...keyed(),
    path: { spaceId, messageId: claim.id },
    body: { token: claim.token, result: { payload: 1 } },
  });

  const budget = await budgetCreate({
    ...keyed(),
    path: { spaceId },
    body: { name: 'hey-api', currency: 'EUR', scale: 2, limitMinor: '1000' },
  });
  const path = { spaceId, budgetId: budget.data?.id ?? '' };
  const reservation = await budgetReserve({
    ...keyed(),
    path,
    body: { scopeId: runId, holder: 'h', amountMinor: '100', workKey: 'r' },
  });
  const settled = await budgetSettle({
    ...keyed(),
    path,
    body: { reservationId: reservation.data?.id ?? '', amountMinor: '40', workKey: 's' },
  });
  const { error } = await messageView({ client, path: { spaceId, messageId: crypto.randomUUID() } });
  return {
    sent: sent.data?.state,
    received: claim.payload,
    completed: completed.data?.state,
    settledMinor: settled.data?.balances.settled,
    refused: error?.error?.code,
  };
}
