import { check } from 'k6';
import { call, holds, journalEnd, journalSince, mailboxCounts, optionsFor } from './lib/muster.js';
import { summaryOf } from './lib/summary.js';

export const operations = ['group', 'submit', 'seal', 'claim', 'finish', 'accept'];
export const options = optionsFor(operations);

export function setup() {
  const cursor = journalEnd();
  const { id } = call('create', 'POST', '/mailboxes', { name: 'k6 members', backlogLimit: 100000 });
  return { mailboxId: id, cursor };
}

/** Three members, two are to be accepted: the third is cancelled by the decision. @param {ReturnType<typeof setup>} data */
export default function group({ mailboxId }) {
  const created = call('group', 'POST', '/task-groups', { mailboxId, condition: 'N_ACCEPTED', threshold: 2 });
  const path = `/task-groups/${created.groupId}`;
  for (const taskKey of ['a', 'b', 'c']) call('submit', 'POST', `${path}/tasks`, { taskKey, input: { taskKey } });
  call('seal', 'POST', `${path}/seal`);
  for (const expected of ['SEALED', 'DECIDED']) {
    const claim = call('claim', 'POST', `/mailboxes/${mailboxId}/recv`, {
      scopeId: created.scopeId,
      holder: 'k6',
      holderSession: created.groupId,
      leaseSeconds: 60,
    });
    call('finish', 'POST', `/messages/${claim.id}/complete`, {
      token: claim.token,
      result: { payload: claim.payload },
    });
    const verdict = call('accept', 'POST', `${path}/tasks/${claim.taskId}/accept`);
    check(verdict, { 'the second acceptance decides': ({ groupState }) => groupState === expected });
  }
  const view = call('view', 'GET', path);
  check(view, {
    'the decision stands': ({ outcome, counts }) =>
      outcome === 'SATISFIED' && counts.accepted === 2 && counts.cancelled === 1,
  });
}

/** @param {ReturnType<typeof setup>} data */
export function teardown({ mailboxId, cursor }) {
  const { ready, claimed } = mailboxCounts(mailboxId);
  holds('no member is left in the mailbox', ready + claimed === 0, { ready, claimed });
  const events = journalSince(cursor, 'group.created,group.decided');
  const mine = new Set(events.filter(({ payload }) => payload.mailboxId === mailboxId).map((one) => one.aggregateId));
  const decided = events.filter(({ type, aggregateId }) => type === 'group.decided' && mine.has(aggregateId)).length;
  holds('every group was decided once', mine.size > 0 && decided === mine.size, { created: mine.size, decided });
}

export const handleSummary = summaryOf('group', operations);
