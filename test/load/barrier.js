import { sleep } from 'k6';
import { call, holds, journalEnd, journalSince, optionsFor, uuid } from './lib/muster.js';
import { summaryOf } from './lib/summary.js';

export const operations = ['arrive', 'nextEpoch'];
export const options = optionsFor(operations);

const target = 5;

export function setup() {
  const cursor = journalEnd();
  return { barrierId: call('create', 'POST', '/barriers', { scopeId: uuid(), target }).id, cursor };
}

/** One arrival at the one barrier; whoever releases it opens it again. @param {ReturnType<typeof setup>} data */
export default function barrier({ barrierId }) {
  const arrivalKey = uuid();
  for (let tries = 1; ; tries++) {
    const answer = call('arrive', 'POST', `/barriers/${barrierId}/arrive`, { arrivalKey }, [200, 409]);
    if (answer.state === 'RELEASED') call('nextEpoch', 'POST', `/barriers/${barrierId}/nextEpoch`);
    if (!answer.error) return;
    // Released by another VU, which is about to open it again; if that one lost its answer, somebody has to.
    if (tries % 200 === 0) call('nextEpoch', 'POST', `/barriers/${barrierId}/nextEpoch`, undefined, [200, 409]);
    sleep(0.005);
  }
}

/** @param {ReturnType<typeof setup>} data */
export function teardown({ barrierId, cursor }) {
  const events = journalSince(cursor, 'barrier.*').filter(({ aggregateId }) => aggregateId === barrierId);
  /** @param {string} what */
  const count = (what) => events.filter(({ type }) => type === `barrier.${what}`).length;
  const view = call('view', 'GET', `/barriers/${barrierId}`);
  const [arrived, released] = [count('arrived'), count('released')];
  const found = { arrived, released, epoch: view.epoch, arrivals: view.arrivals, state: view.state };
  holds(`every ${target} arrivals release once`, arrived > 0 && released === Math.floor(arrived / target), found);
  holds('each release is one epoch', view.state === 'OPEN' && view.epoch === 1 + released, found);
  holds('no arrival is lost or counted twice', view.arrivals === arrived % target, found);
}

export const handleSummary = summaryOf('barrier', operations);
