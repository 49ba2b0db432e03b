import { sleep } from 'k6';
import exec from 'k6/execution';
import { call, holds, journalEnd, journalSince, optionsFor, uuid } from './lib/muster.js';
import { summaryOf } from './lib/summary.js';

export const operations = ['consume', 'wait', 'waiter'];
export const options = optionsFor(operations);

const scopeId = uuid();

export function setup() {
  const cursor = journalEnd();
  /** @param {string} name @param {number} unitsLimit @param {number} windowSeconds */
  const create = (name, unitsLimit, windowSeconds) =>
    call('create', 'POST', '/allowances', { name: `${name} ${uuid()}`, unitsLimit, windowSeconds }).id;
  return { wideId: create('k6 wide', 1e9, 31536000), narrowId: create('k6 narrow', 100, 1), cursor };
}

/** Every tenth time it also queues where little is left. @param {ReturnType<typeof setup>} data */
export default function allowance({ wideId, narrowId }) {
  call('consume', 'POST', `/allowances/${wideId}/consume`, { scopeId, units: 1, holder: 'k6' });
  if (exec.vu.iterationInScenario % 10 !== 0) return;
  let waiter = call('wait', 'POST', `/allowances/${narrowId}/wait`, { scopeId, units: 10, holder: 'k6' });
  while (waiter.state === 'WAITING') {
    sleep(0.1);
    waiter = call('waiter', 'GET', `/allowance-waiters/${waiter.waiterId}`);
  }
}

/** @param {ReturnType<typeof setup>} data */
export function teardown({ wideId, narrowId, cursor }) {
  const wide = call('view', 'GET', `/allowances/${wideId}`);
  const narrow = call('view', 'GET', `/allowances/${narrowId}`);
  const events = journalSince(cursor, 'allowance.consumed,waiter.*').filter(
    ({ aggregateId, payload }) => aggregateId === wideId || payload.allowanceId === narrowId,
  );
  /** @param {string} type */
  const ids = (type) => events.filter((one) => one.type === type).map((one) => one.aggregateId);
  const consumed = ids('allowance.consumed').length;
  holds('every unit was counted once', consumed > 0 && wide.usedUnits === consumed, { used: wide.usedUnits, consumed });
  holds('nobody waits any more', narrow.waiting === 0, narrow);
  const queued = ids('waiter.queued');
  const inQueue = new Set(queued);
  const granted = ids('waiter.granted').filter((id) => inQueue.has(id));
  holds('who queued first was granted first', queued.join() === granted.join(), {
    queued: queued.length,
    granted: granted.length,
  });
}

export const handleSummary = summaryOf('allowance', operations);
