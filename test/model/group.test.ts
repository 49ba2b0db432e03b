import fc from 'fast-check';
import { longMs } from '../support/long.ts';
import { GroupModel, longestPauseSeconds } from './group.model.ts';
import { iso, met, Pair, parentScopeId, type Step, steps } from './group.pair.ts';
import { trySequences } from './sequences.ts';

const within = fc.option(fc.integer({ min: 1, max: 30_000 }), { freq: 3 });
const weights = {
  submit: 5,
  send: 3,
  join: 2,
  recv: 8,
  renew: 1,
  complete: 4,
  retry: 4,
  untried: 2,
  refuse: 2,
  accept: 4,
  reject: 2,
  seal: 1,
  pass: 2,
  cancel: 1,
  requeue: 2,
  recvSome: 3,
  purge: 1,
  requeueSome: 1,
  purgeAll: 1,
  requeueAll: 2,
  takeAway: 2,
};
const step = fc.record({
  do: fc.oneof(...steps.map((what) => ({ weight: weights[what], arbitrary: fc.constant(what) }))),
  index: fc.nat(9),
  within,
  delaySeconds: fc.option(fc.integer({ min: 0, max: 10 }), { freq: 1 }),
});
const group = fc.record({
  condition: fc.constantFrom('FIRST_ACCEPTED', 'N_ACCEPTED', 'ALL_TERMINAL'),
  threshold: fc.integer({ min: 1, max: 3 }),
  within,
  pauseSeconds: fc.integer({ min: 0, max: 2 }),
});
type Asked = typeof group extends fc.Arbitrary<infer T> ? T : never;

/** Rare cases: attempts used up, a join too late or just in time, conflicting verdicts. */
const rare = (
  [
    ['submit', ...Array(5).fill(['recv', 'retry']).flat()],
    ['submit', 'recv', 'untried', ...Array(5).fill(['recv', 'retry']).flat(), 'untried'],
    ['submit', 'recv', 'complete', 'send', 'recv', 'join', 'accept', 'untried'],
    ['submit', 'submit', 'accept', 'reject'],
    ['submit', 'requeue', 'cancel', 'requeue', 'recv', 'complete', 'cancel', 'accept', 'requeue'],
    ['submit', 'recv', 'refuse', 'reject', 'requeue'],
    ['send', 'recv', 'refuse', 'join'],
    ['send', 'recv', 'complete', 'join', 'seal', 'accept'],
    ['submit', 'recv', 'complete', 'reject', 'accept', 'complete'],
    ['send', 'send', 'recvSome', 'send', 'purge', 'requeueSome', 'recvSome'],
    ['submit', 'recv', 'takeAway', 'takeAway', 'send', 'purgeAll', 'requeueAll', 'recvSome'],
  ] as Step['do'][][]
).map((sequence): [Asked, Step[]] => [
  { condition: 'N_ACCEPTED', threshold: 1, within: null, pauseSeconds: 0 },
  sequence.map((what) => ({ do: what, index: 0, within: null, delaySeconds: null })),
]);

/** A delay that reaches the deadline, one that does not, and a retry delay after it. */
const delayed: [Asked, Step[]] = [
  { condition: 'ALL_TERMINAL', threshold: 1, within: null, pauseSeconds: 1 },
  [
    { do: 'send', index: 0, within: 1000, delaySeconds: 1 },
    { do: 'send', index: 0, within: null, delaySeconds: 1 },
    { do: 'pass', index: 0, within: 1000, delaySeconds: null },
    { do: 'recv', index: 0, within: null, delaySeconds: null },
    { do: 'retry', index: 0, within: null, delaySeconds: null },
    { do: 'pass', index: 0, within: 1000, delaySeconds: null },
    { do: 'recvSome', index: 0, within: null, delaySeconds: null },
    { do: 'untried', index: 0, within: null, delaySeconds: 1 },
    { do: 'pass', index: 0, within: 1000, delaySeconds: null },
    { do: 'recv', index: 0, within: null, delaySeconds: null },
    { do: 'retry', index: 0, within: null, delaySeconds: 2 },
    { do: 'cancel', index: 0, within: null, delaySeconds: null },
    { do: 'requeue', index: 0, within: null, delaySeconds: 2 },
  ],
];

const outcomes = [
  ...['GROUP_NOT_OPEN', 'TASK_KEY_CONFLICT', 'TASK_NOT_JOINABLE', 'TASK_NOT_FOUND', 'CLAIM_LOST', 'replay'],
  ...['TASK_NOT_SUCCEEDED', 'TASK_NOT_TERMINAL', 'VERDICT_CONFLICT', 'SATISFIED', 'UNSATISFIABLE', 'EXPIRED'],
  ...['GROUP_DECIDED', 'ATTEMPTS_EXHAUSTED', 'DEADLINE_EXCEEDED', 'REJECTED_BY_WORKER'],
  ...['MESSAGE_FINISHED', 'MESSAGE_NOT_REQUEUABLE', 'CANCELLED_BY_CALLER', 'requeue'],
  ...[
    'several',
    'purge',
    'requeueSome',
    'purgeAll',
    'requeueAll',
    'takeAway',
    'MESSAGE_NOT_CLAIMED',
    'DELAYED',
    'READY',
    'VALIDATION_FAILED',
  ],
  ...['untried READY', 'untried DELAYED', 'untried CANCELLED'],
];

describe('group model', () => {
  it('decides once, when the condition is met or out of reach, and cancels pending members, in any sequence', async function () {
    this.timeout(longMs);
    await trySequences({
      ...{ first: group, step, maxLength: 80, examples: [...rare, delayed], outcomes, met },
      run: async (curl, world, now, { condition, threshold, within, pauseSeconds }, sequence) => {
        const deadline = within === null ? null : now + within;
        const mailbox = await curl.post('/mailboxes', {
          ...{ name: 'm', retryDelaySeconds: pauseSeconds, maxRetryDelaySeconds: longestPauseSeconds },
        });
        const mailboxId: string = mailbox.body.id;
        const parent = { parentScopeId, mailboxId, condition, threshold, deadline: iso(deadline) };
        const { body } = await curl.post('/task-groups', parent);
        const needed = condition === 'N_ACCEPTED' ? threshold : 1;
        const ids = { groupId: body.groupId, scopeId: body.scopeId, mailboxId };
        const pair = new Pair(world, curl, new GroupModel(condition, needed, deadline, pauseSeconds), ids, now);
        for (const one of sequence) await pair.take(one);
        await pair.end();
      },
    });
  });
});
