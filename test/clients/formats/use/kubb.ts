import send, { type Client, setConfig } from '@kubb/plugin-client/clients/fetch';
import { budgetCreate } from '../generated/kubb/clients/budget/create.ts';
import { budgetReserve } from '../generated/kubb/clients/budget/reserve.ts';
import { budgetSettle } from '../generated/kubb/clients/budget/settle.ts';
import { mailboxCreate } from '../generated/kubb/clients/mailbox/create.ts';
import { messageComplete } from '../generated/kubb/clients/message/complete.ts';
import { messageRecv } from '../generated/kubb/clients/message/recv.ts';
import { messageSend } from '../generated/kubb/clients/message/send.ts';
import { messageView } from '../generated/kubb/clients/message/view.ts';
import type { MessageView404 } from '../generated/kubb/types/message/View.ts';
import type { Access, Outcome } from './outcome.ts';

/** Sends, receives and completes a message, reserves money and settles it, with the functions of kubb. */
export async function run({ url, key, spaceId, runId }: Access): Promise<Outcome> {
  // kubb's client names no type for the JSON that it sends.
  setConfig({ baseURL: url, headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' } });
  const once = () => ({ 'Idempotency-Key': crypto.randomUUID() });

  const mailbox = await mailboxCreate(spaceId, { name: 'kubb' }, once());
  const sent = await messageSend(spaceId, mailbox.id, { scopeId: runId, payload: { page: 7 } }, once());
  const claim = await messageRecv(spaceId, mailbox.id, { scopeId: '*', holder: 'h', holderSession: 's' });
  if (!claim || !('token' in claim)) throw new Error('nothing was received');
  const done = { token: claim.token, result: { payload: 1 } };
  const completed = await messageComplete(spaceId, claim.id, done, once());

  const limit = { name: 'kubb', currency: 'EUR', scale: 2, limitMinor: '1000' };
  const budget = await budgetCreate(spaceId, limit, once());
  const reserving = { scopeId: runId, holder: 'h', amountMinor: '100', workKey: 'r' };
  const reservation = await budgetReserve(spaceId, budget.id, reserving, once());
  const settling = { reservationId: reservation.id, amountMinor: '40', workKey: 's' };
  const settled = await budgetSettle(spaceId, budget.id, settling, once());

  // kubb's client returns refusals as if they were answers. One of one's own sees the status.
  let refused: string | undefined;
  const watching: Client = async (config) => {
    const answer = await send(config);
    if (answer.status === 404) refused = (answer.data as MessageView404).error.code;
    return answer as never;
  };
  await messageView(spaceId, crypto.randomUUID(), {}, { client: watching });
  return {
    sent: sent.state,
    received: claim.payload,
    completed: completed.state,
    settledMinor: settled.balances.settled,
    refused,
  };
}
