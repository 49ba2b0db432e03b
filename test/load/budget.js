import { check } from 'k6';
import { call, holds, journalEnd, journalSince, optionsFor, uuid } from './lib/muster.js';
import { summaryOf } from './lib/summary.js';

export const operations = ['reserve', 'settle', 'void'];
export const options = optionsFor(operations);

const scopeId = uuid();
const wideMinor = 1e15;
/** For three reservations at a time: all others are refused. */
const tightMinor = 300;

export function setup() {
  const cursor = journalEnd();
  /** @param {string} name @param {number} limit */
  const create = (name, limit) =>
    call('create', 'POST', '/budgets', { name: `${name} ${uuid()}`, currency: 'EUR', scale: 2, limitMinor: `${limit}` })
      .id;
  return { wideId: create('k6 wide', wideMinor), tightId: create('k6 tight', tightMinor), cursor };
}

/** @param {{ limit: string, reserved: string, settled: string, available: string }} balances */
function addUp({ limit, reserved, settled, available }) {
  const sum = Number(reserved) + Number(settled) + Number(available);
  return sum === Number(limit) && Number(available) >= 0 && Number(reserved) >= 0;
}

/** @param {string} operation @param {string} budgetId @param {object} body @param {number[]} [expected] */
function change(operation, budgetId, body, expected) {
  const answer = call(operation, 'POST', `/budgets/${budgetId}/${operation}`, body, expected);
  if (!answer.error) check(answer, { 'balances add up': ({ balances }) => addUp(balances) });
  return answer;
}

/** @param {ReturnType<typeof setup>} data */
export default function budget({ wideId, tightId }) {
  const spent = change('reserve', wideId, { scopeId, holder: 'k6', amountMinor: '100' });
  change('settle', wideId, { reservationId: spent.id, amountMinor: '60', workKey: spent.id });
  change('void', wideId, { reservationId: spent.id, workKey: spent.id });

  const tried = change('reserve', tightId, { scopeId, holder: 'k6', amountMinor: '100' }, [201, 409]);
  if (tried.error)
    check(tried, { 'a refusal is for want of funds': ({ error }) => error.code === 'INSUFFICIENT_BUDGET' });
  else change('void', tightId, { reservationId: tried.id, workKey: tried.id });
}

/** @param {ReturnType<typeof setup>} data */
export function teardown({ wideId, tightId, cursor }) {
  const wide = call('view', 'GET', `/budgets/${wideId}?limit=1`).balances;
  const tight = call('view', 'GET', `/budgets/${tightId}?limit=1`).balances;
  const settled = journalSince(cursor, 'budget.settled').filter(({ aggregateId }) => aggregateId === wideId).length;
  holds('the balances add up', addUp(wide) && addUp(tight), { wide, tight });
  holds('nothing is reserved any more', wide.reserved === '0' && tight.reserved === '0', { wide, tight });
  holds('every settlement is in the balance', settled > 0 && Number(wide.settled) === 60 * settled, { wide, settled });
  holds('what was voided is there again', tight.available === `${tightMinor}`, tight);
}

export const handleSummary = summaryOf('budget', operations);
