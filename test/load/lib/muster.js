import { check, fail, sleep } from 'k6';
import { randomBytes } from 'k6/crypto';
import http from 'k6/http';
import { Counter, Rate } from 'k6/metrics';

for (const name of ['MUSTER_URL', 'MUSTER_KEY', 'MUSTER_SPACE'])
  if (!__ENV[name]) throw new Error(`say where to: -e ${name}=… (npm start prints it)`);

const space = `${__ENV.MUSTER_URL}/v1/spaces/${__ENV.MUSTER_SPACE}`;
export const vus = Number(__ENV.VUS || 10);
export const duration = __ENV.DURATION || '30s';
const p95Ms = Number(__ENV.P95 || 200);

/** Invariants that must hold exactly at the end, whatever the load was. */
const invariants = new Rate('invariants');
/** Answers 429: the plan's or the space's rate, not the machine, was the limit. */
const heldBack = new Counter('held_back');

/**
 * Thresholds for the operations of a script, and how many run it for how long.
 * @param {string[]} operations
 * @param {Record<string, import('k6/options').Scenario>} [scenarios]
 * @returns {import('k6/options').Options}
 */
export function optionsFor(operations, scenarios) {
  /** @type {Record<string, string[]>} */
  const thresholds = { checks: ['rate>0.999'], http_req_failed: ['rate<0.001'], invariants: ['rate==1'] };
  for (const operation of operations) thresholds[`http_req_duration{operation:${operation}}`] = [`p(95)<${p95Ms}`];
  return {
    ...(scenarios ? { scenarios } : { vus, duration }),
    thresholds,
    setupTimeout: '1m',
    teardownTimeout: '10m',
    summaryTrendStats: ['med', 'p(95)', 'max', 'count'],
  };
}

/** A random UUID: crypto.randomUUID is not in every k6 1.x. */
export function uuid() {
  const bytes = new Uint8Array(randomBytes(16));
  bytes[6] = (Number(bytes[6]) & 0x0f) | 0x40;
  bytes[8] = (Number(bytes[8]) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/**
 * One request below the space; returns its body, or null. Any other status than the expected ones ends the iteration.
 * A 429 is repeated when it says so, with the same Idempotency-Key, as every client should.
 * @param {string} operation
 * @param {'GET' | 'POST'} method
 * @param {string} path
 * @param {object} [body]
 * @param {number[]} [expected]
 * @returns {any}
 */
export function call(operation, method, path, body, expected = [200, 201]) {
  const headers = {
    Authorization: `Bearer ${__ENV.MUSTER_KEY}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': uuid(),
  };
  const params = {
    headers,
    tags: { operation, name: operation },
    responseCallback: http.expectedStatuses(429, ...expected),
  };
  const text = body === undefined ? null : JSON.stringify(body);
  for (;;) {
    const response = http.request(method, `${space}${path}`, text, params);
    if (response.status === 429) {
      heldBack.add(1);
      sleep(Number(response.headers['Retry-After'] || 1));
      continue;
    }
    const isExpected = check(response, { [`${operation} is answered`]: ({ status }) => expected.includes(status) });
    if (!isExpected) fail(`${operation}: ${response.status} ${response.body}`);
    return response.body ? response.json() : null;
  }
}

/** The end of the journal. */
export function journalEnd() {
  return call('cursor', 'GET', '/watch?cursor=latest').nextCursor;
}

/**
 * The events of some types since a cursor.
 * @param {string} from
 * @param {string} types
 * @returns {any[]}
 */
export function journalSince(from, types) {
  const found = [];
  for (let cursor = from; ; ) {
    const page = call('journal', 'GET', `/watch?limit=500&types=${types}&cursor=${encodeURIComponent(cursor)}`);
    found.push(...page.events);
    if (page.events.length === 0 && page.nextCursor === cursor) return found;
    cursor = page.nextCursor;
  }
}

/**
 * The counts of a mailbox that this run has made: it is among the newest.
 * @param {string} mailboxId
 */
export function mailboxCounts(mailboxId) {
  const { mailboxes } = call('list', 'GET', '/mailboxes?limit=200');
  return mailboxes.find((/** @type {{ id: string }} */ { id }) => id === mailboxId).counts;
}

/**
 * Records whether an invariant holds, and prints a violation.
 * @param {string} what
 * @param {boolean} isSo
 * @param {unknown} found
 */
export function holds(what, isSo, found) {
  invariants.add(isSo);
  if (!isSo) console.error(`does not hold: ${what}: ${JSON.stringify(found)}`);
}
