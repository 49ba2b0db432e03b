import { check } from 'k6';
import { call, holds, journalEnd, journalSince, mailboxCounts, optionsFor, uuid } from './lib/muster.js';
import { summaryOf } from './lib/summary.js';

export const operations = ['send', 'recv', 'renew', 'complete'];
export const options = optionsFor(operations);

/** Each VU has a run of its own in the one mailbox, so it receives what it has sent. */
const scopeId = uuid();

export function setup() {
  const cursor = journalEnd();
  const { id } = call('create', 'POST', '/mailboxes', { name: 'k6', backlogLimit: 100000 });
  return { mailboxId: id, cursor };
}

/** @param {ReturnType<typeof setup>} data */
export default function mailbox({ mailboxId }) {
  const sent = call('send', 'POST', `/mailboxes/${mailboxId}/messages`, { scopeId, payload: { file: 'a.txt' } });
  const claim = call('recv', 'POST', `/mailboxes/${mailboxId}/recv`, {
    scopeId,
    holder: 'k6',
    holderSession: scopeId,
    leaseSeconds: 60,
  });
  check(claim, { 'recv is what was sent': ({ id }) => id === sent.id });
  call('renew', 'POST', `/messages/${claim.id}/renew`, { token: claim.token });
  const done = call('complete', 'POST', `/messages/${claim.id}/complete`, { token: claim.token });
  check(done, { 'complete is ACKED': ({ state }) => state === 'ACKED' });
}

/** @param {ReturnType<typeof setup>} data */
export function teardown({ mailboxId, cursor }) {
  const { ready, claimed, failed } = mailboxCounts(mailboxId);
  holds('nothing is left in the mailbox', ready + claimed + failed === 0, { ready, claimed, failed });
  const events = journalSince(cursor, 'message.sent,message.acked').filter(
    ({ payload }) => payload.mailboxId === mailboxId,
  );
  const sent = events.filter(({ type }) => type === 'message.sent').length;
  holds('every message was acknowledged once', sent > 0 && events.length === 2 * sent, {
    sent,
    acked: events.length - sent,
  });
}

export const handleSummary = summaryOf('mailbox', operations);
