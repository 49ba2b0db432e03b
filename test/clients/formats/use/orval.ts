import {
  budgetCreate,
  budgetReserve,
  budgetSettle,
  mailboxCreate,
  messageComplete,
  messageRecv,
  messageSend,
  messageView,
} from '../generated/orval/api.ts';
import { setAccess } from './orval-request.ts';
import type { Access, Outcome } from './outcome.ts';

/** Sends, receives and completes a message, reserves money and settles it, with the functions of orval. */
export async function run({ url, key, spaceId, runId }: Access): Promise<Outcome> {
  setAccess({ url, key });
  const once = () => ({ 'Idempotency-Key': crypto.randomUUID() });

  const mailbox = await mailboxCreate(spaceId, { name: 'orval' }, once());
  if (mailbox.status !== 201) throw new Error('there is no mailbox');
  const body = { scopeId: runId, payload: { page: 7 } };
  const sent = await messageSend(spaceId, mailbox.data.id, body, once());
  if (sent.status !== 201) throw new Error('nothing was sent');
  const receiving = { scopeId: '*', holder: 'h', holderSession: 's' };
  const received = await messageRecv(spaceId, mailbox.data.id, receiving);
  if (received.status !== 200 || !('token' in received.data)) throw new Error('nothing was received');
  const claim = received.data;
  const completed = await messageComplete(spaceId, claim.id, { token: claim.token, result: { payload: 1 } }, once());
  if (completed.status !== 200) throw new Error('it was not completed');

  const limit = { name: 'orval', currency: 'EUR', scale: 2, limitMinor: '1000' };
  const budget = await budgetCreate(spaceId, limit, once());
  if (budget.status !== 201) throw new Error('there is no budget');
  const reserving = { scopeId: runId, holder: 'h', amountMinor: '100', workKey: 'r' };
  const reservation = await budgetReserve(spaceId, budget.data.id, reserving, once());
  if (reservation.status !== 201) throw new Error('nothing was reserved');
  const settling = { reservationId: reservation.data.id, amountMinor: '40', workKey: 's' };
  const settled = await budgetSettle(spaceId, budget.data.id, settling, once());
  const missing = await messageView(spaceId, crypto.randomUUID());
  return {
    sent: sent.data.state,
    received: claim.payload,
    completed: completed.data.state,
    settledMinor: settled.status === 200 ? settled.data.balances.settled : undefined,
    refused: missing.status === 404 ? missing.data.error.code : undefined,
  };
}
