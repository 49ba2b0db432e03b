import { Api, type HttpResponse, type Error as Refusal } from '../generated/swagger/api.ts';
import type { Access, Outcome } from './outcome.ts';

/** Sends, receives and completes a message, reserves money and settles it, with the client of swagger-typescript-api. */
export async function run({ url, key, spaceId, runId }: Access): Promise<Outcome> {
  const api = new Api<string>({
    baseUrl: url,
    securityWorker: (given) => ({ headers: { Authorization: `Bearer ${given}` } }),
  });
  api.setSecurityData(key);
  const { v1 } = api;
  const once = () => ({ headers: { 'Idempotency-Key': crypto.randomUUID() } });

  const { data: mailbox } = await v1.mailboxCreate(spaceId, { name: 'swagger-typescript-api' }, once());
  const body = { scopeId: runId, payload: { page: 7 } };
  const { data: sent } = await v1.messageSend(spaceId, mailbox.id, body, once());
  const receiving = { scopeId: '*', holder: 'h', holderSession: 's' } as const;
  const { data: claim } = await v1.messageRecv(spaceId, mailbox.id, receiving);
  if (!claim || !('token' in claim)) throw new Error('nothing was received');
  const done = { token: claim.token, result: { payload: 1 } };
  const { data: completed } = await v1.messageComplete(spaceId, claim.id, done, once());

  const limit = { name: 'swagger-typescript-api', currency: 'EUR', scale: 2, limitMinor: '1000' };
  const { data: budget } = await v1.budgetCreate(spaceId, limit, once());
  const reserving = { scopeId: runId, holder: 'h', amountMinor: '100', workKey: 'r' };
  const { data: reservation } = await v1.budgetReserve(spaceId, budget.id, reserving, once());
  const settling = { reservationId: reservation.id, amountMinor: '40', workKey: 's' };
  const { data: settled } = await v1.budgetSettle(spaceId, budget.id, settling, once());
  // The client throws its answer if the status is that of a refusal.
  const refused = await v1.messageView(spaceId, crypto.randomUUID()).then(
    () => undefined,
    ({ error }: HttpResponse<unknown, Refusal>) => error.error.code,
  );
  return {
    sent: sent.state,
    received: claim.payload,
    completed: completed.state,
    settledMinor: settled.balances.settled,
    refused,
  };
}
