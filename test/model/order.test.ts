import fc from 'fast-check';
import { longMs } from '../support/long.ts';
import { OrderModel } from './order.model.ts';
import { met, OrderPair, type OrderStep, orderSteps, perKeys } from './order.pair.ts';
import { trySequences } from './sequences.ts';

const begins = fc.record({ perKey: perKeys, retryDelaySeconds: fc.constantFrom(0, 0, 2) });
const outcomes = [
  ...['READY', 'DELAYED', 'BLOCKED', 'CLAIMED', 'ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED'],
  ...['by KEY', 'by MESSAGE', 'received', 'nothing', 'in turn', 'freed by perKey'],
  ...['409 PREREQUISITE_FAILED', '409 MESSAGE_NOT_REQUEUABLE', '409 SCOPE_CANCELLED'],
];

const plain = {
  ...{ do: 'send' as const, run: 0, priority: 0, key: undefined, after: [], policy: 'CANCEL' as const },
  ...{ delaySeconds: 0, lifeSeconds: undefined, maxAttempts: 5 },
};
const receives = (max: number, leaseSeconds: number): OrderStep => ({ do: 'recv', run: '*', max, leaseSeconds });
const looks: OrderStep = { do: 'look' };
/** Every outcome. */
const example: OrderStep[] = [
  ...[
    { ...plain, key: 'a', maxAttempts: 1 },
    { ...plain, key: 'a' },
  ],
  ...[{ ...plain, run: 1, key: 'a', lifeSeconds: 9 }, looks, receives(1, 5)],
  ...[{ do: 'wait' as const, seconds: 8 }, looks, { do: 'perKey' as const, perKey: null }, receives(3, 60), looks],
  ...[receives(1, 60), { do: 'complete' as const, index: 0 }, { do: 'requeue' as const, index: 1, delaySeconds: 0 }],
  ...[
    { do: 'wait' as const, seconds: 3 },
    { ...plain, after: [0] },
    { ...plain, run: 1 },
  ],
  ...[{ ...plain, run: 1, after: [3] }, { ...plain, delaySeconds: 6 }, looks, receives(1, 60)],
  { do: 'nack', index: 0, retry: false, countsAttempt: true, delaySeconds: undefined },
  ...[{ do: 'cancelRun' as const, run: 0 }, { do: 'requeue' as const, index: 0, delaySeconds: 0 }, looks],
];

describe('model of the order of messages', () => {
  it('gives each receive the message that is next by priority, time, key and prerequisites, in any sequence', async function () {
    this.timeout(longMs);
    await trySequences<{ perKey: number | null; retryDelaySeconds: number }, OrderStep>({
      ...{ first: begins, step: fc.oneof(...orderSteps), maxLength: 70, outcomes, met },
      examples: [[{ perKey: 1, retryDelaySeconds: 0 }, example]],
      run: async (curl, world, now, { perKey, retryDelaySeconds }, sequence) => {
        const { id } = (await curl.post('/mailboxes', { name: 'm', perKey, retryDelaySeconds })).body;
        const pair = new OrderPair(curl, world, new OrderModel(perKey, retryDelaySeconds), id, now);
        await pair.begin();
        for (const one of sequence) await pair.take(one);
        await pair.look();
      },
    });
  });
});
