import fc from 'fast-check';
import { longMs } from '../support/long.ts';
import { OrderModel } from './order.model.ts';
import { met, OrderPair, type OrderStep, orderExample, orderSteps, perKeys } from './order.pair.ts';
import { trySequences } from './sequences.ts';

const begins = fc.record({ perKey: perKeys, retryDelaySeconds: fc.constantFrom(0, 0, 2) });
const outcomes = [
  ...['READY', 'DELAYED', 'BLOCKED', 'CLAIMED', 'ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED'],
  ...['by KEY', 'by MESSAGE', 'received', 'nothing', 'in turn', 'freed by perKey'],
  ...['409 PREREQUISITE_FAILED', '409 MESSAGE_NOT_REQUEUABLE', '409 SCOPE_CANCELLED'],
];

describe('model of the order of messages', () => {
  it('gives each receive the message that is next by priority, time, key and prerequisites, in any sequence', async function () {
    this.timeout(longMs);
    await trySequences<{ perKey: number | null; retryDelaySeconds: number }, OrderStep>({
      ...{ first: begins, step: fc.oneof(...orderSteps), maxLength: 70, outcomes, met },
      examples: [[{ perKey: 1, retryDelaySeconds: 0 }, orderExample]],
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
