import { check } from 'k6';
import { call, holds, journalEnd, journalSince, optionsFor, uuid } from './lib/muster.js';
import { summaryOf } from './lib/summary.js';

export const operations = ['change', 'watch'];
export const options = optionsFor(operations);

const scopeId = uuid();
/** Where this VU has read to. */
let cursor = '';

export function setup() {
  const from = journalEnd();
  const name = `k6 ${uuid()}`;
  const { id } = call('create', 'POST', '/allowances', { name, unitsLimit: 1e9, windowSeconds: 31536000 });
  return { allowanceId: id, from };
}

/** Changes something, then watches for its event among those of all VUs. @param {ReturnType<typeof setup>} data */
export default function events({ allowanceId }) {
  if (cursor === '') cursor = journalEnd();
  const { id } = call('change', 'POST', `/allowances/${allowanceId}/consume`, { scopeId, units: 1, holder: 'k6' });
  const query = `scopeId=${scopeId}&types=allowance.consumed&waitSeconds=10&cursor=${encodeURIComponent(cursor)}`;
  const page = call('watch', 'GET', `/watch?${query}`);
  cursor = page.nextCursor;
  check(page, {
    'watch has this change, and nothing else': ({ events: [first, ...rest] }) =>
      first?.payload.consumptionId === id && rest.length === 0,
  });
}

/** @param {ReturnType<typeof setup>} data */
export function teardown({ allowanceId, from }) {
  const { usedUnits } = call('view', 'GET', `/allowances/${allowanceId}`);
  const found = journalSince(from, 'allowance.consumed').filter(({ aggregateId }) => aggregateId === allowanceId);
  holds('every change has one event', found.length > 0 && found.length === usedUnits, {
    usedUnits,
    events: found.length,
  });
  const isOrdered = found.every(({ eventId }, index) => index === 0 || eventId > found[index - 1].eventId);
  holds('events are in order, none twice', isOrdered, null);
}

export const handleSummary = summaryOf('events', operations);
