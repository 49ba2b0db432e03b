// The records of one space of the benchmark, and the plans that are driven over it.
import type { Plan, Step } from '../driver.ts';
import type { Phase } from '../phases.ts';

/** Makes a POST or PUT; resolves with the record's id. */
export type Call = (method: 'POST' | 'PUT', path: string, body: object) => Promise<{ id: string }>;

/** The highest limits of a space. It takes 100,000 requests a minute, hence several spaces. */
const LIMITS = { requestsPerMinute: 100_000, maxBacklog: 1_000_000 };
const MAILBOX = { name: 'bench', mode: 'WORK', backlogLimit: 100_000 };
const BUDGET = { name: 'bench', currency: 'EUR', scale: 2, limitMinor: '9'.repeat(18) };
const ALLOWANCE = { name: 'bench', unitsLimit: 1_000_000_000, windowSeconds: 3_600 };
const BARRIER_TARGET = 100_000;
/** Enough that no barrier reaches its target, which would release it, in runs of a few minutes. */
const BARRIERS = 4;
const AMOUNT = '125';
const HOLDER = 'bench';

/** Calls in a batch. */
export const BATCH = 50;

/** Phases of messages, which may also be sent, received and completed many at a time. */
export const BATCH_PHASES = ['send', 'drain', 'through'] as const satisfies readonly Phase[];
export type BatchPhase = (typeof BATCH_PHASES)[number];

/**
 * The plans of each phase over one space: one, or for arrivals one for each barrier; plans of batches are separate.
 */
export type SpacePlans = Record<Phase, readonly Plan[]> & { readonly batched: Record<BatchPhase, readonly Plan[]> };

function queuePlans(space: string, mailbox: string, scopeId: string, payload: unknown) {
  const send: Step = {
    name: 'send',
    path: `${space}/mailboxes/${mailbox}/messages`,
    body: JSON.stringify({ scopeId, payload }),
    keyed: true,
  };
  const recv: Step = {
    name: 'recv',
    path: `${space}/mailboxes/${mailbox}/recv`,
    body: JSON.stringify({ scopeId, holder: HOLDER, holderSession: 'bench-1', leaseSeconds: 600 }),
    keyed: false,
    keep: { message: 'id', token: 'token' },
  };
  const complete: Step = {
    name: 'complete',
    path: `${space}/messages/<message>/complete`,
    body: JSON.stringify({ token: '<token>' }),
    keyed: true,
  };
  return { send: [[send]], drain: [[recv, complete]], through: [[send, recv, complete]] };
}

function batchPlans(space: string, mailboxId: string, scopeId: string, payload: unknown) {
  const call = JSON.stringify({ call: 'message.send', mailboxId, scopeId, payload });
  const send: Step = {
    name: 'send',
    path: `${space}/batch`,
    body: `{"calls":[${Array(BATCH).fill(call).join()}]}`,
    keyed: true,
    isBatch: true,
  };
  const recv: Step = {
    name: 'recv',
    path: `${space}/mailboxes/${mailboxId}/recv`,
    body: JSON.stringify({ scopeId, holder: HOLDER, holderSession: 'bench-1', leaseSeconds: 600, max: BATCH }),
    keyed: false,
    keepEach: { calls: '{"call":"message.complete","messageId":"<id>","token":"<token>"}' },
  };
  const complete: Step = {
    name: 'complete',
    path: `${space}/batch`,
    body: '{"calls":[<calls>]}',
    keyed: true,
    isBatch: true,
  };
  return { send: [[send]], drain: [[recv, complete]], through: [[send, recv, complete]] };
}

function budgetPlan(space: string, budget: string, scopeId: string): Plan {
  return [
    {
      name: 'reserve',
      path: `${space}/budgets/${budget}/reserve`,
      body: JSON.stringify({ scopeId, holder: HOLDER, amountMinor: AMOUNT }),
      keyed: true,
      keep: { reservation: 'id' },
    },
    {
      name: 'settle',
      path: `${space}/budgets/${budget}/settle`,
      body: JSON.stringify({ reservationId: '<reservation>', amountMinor: AMOUNT, workKey: '<key>' }),
      keyed: false,
    },
  ];
}

function arrivePlan(space: string, barrier: string): Plan {
  const body = JSON.stringify({ arrivalKey: '<key>' });
  return [{ name: 'arrive', path: `${space}/barriers/${barrier}/arrive`, body, keyed: false }];
}

function consumePlan(space: string, allowance: string, scopeId: string): Plan {
  const body = JSON.stringify({ scopeId, units: 1, holder: HOLDER });
  return [{ name: 'consume', path: `${space}/allowances/${allowance}/consume`, body, keyed: true }];
}

/** Raises the space's limits, makes its records, and returns the plans to drive over them. */
export async function makeSpace(path: string, call: Call, payload: unknown): Promise<SpacePlans> {
  const scopeId = crypto.randomUUID();
  await call('PUT', `${path}/limits`, LIMITS);
  const mailbox = await call('POST', `${path}/mailboxes`, MAILBOX);
  const budget = await call('POST', `${path}/budgets`, BUDGET);
  const allowance = await call('POST', `${path}/allowances`, ALLOWANCE);
  const barriers = Array.from({ length: BARRIERS }, () =>
    call('POST', `${path}/barriers`, { scopeId, target: BARRIER_TARGET }),
  );
  return {
    ...queuePlans(path, mailbox.id, scopeId, payload),
    batched: batchPlans(path, mailbox.id, scopeId, payload),
    reserve: [budgetPlan(path, budget.id, scopeId)],
    arrive: (await Promise.all(barriers)).map(({ id }) => arrivePlan(path, id)),
    consume: [consumePlan(path, allowance.id, scopeId)],
  };
}
