import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { attempt } from '../../../src/webhook/attempt.ts';
import { testMessage } from '../../../src/webhook/message.ts';
import { Targets } from '../../../src/webhook/target.ts';

const message = testMessage('e', 'd', 0);
const delivery = { url: 'http://127.0.0.1:9/', secrets: [], message, at: 0 };

/** How much hangs on a signal: its listeners, and what Node itself keeps with it. */
function held(signal: AbortSignal): number {
  const own = Object.getOwnPropertySymbols(signal).map((symbol) => Reflect.get(signal, symbol));
  const kept = own.reduce((sum: number, value) => sum + (Number(value?.size) || 0), 0);
  return kept + getEventListeners(signal, 'abort').length;
}

describe('an attempt to deliver', () => {
  it('leaves nothing with the signal that outlives it: a worker makes millions', async () => {
    const { signal } = new AbortController();
    const before = held(signal);
    for (let i = 0; i < 5; i++) await attempt(new Targets(false), delivery, signal);
    expect(held(signal)).to.equal(before);
  });

  it('that is stopped is INTERRUPTED, also before it began', async () => {
    const { errorCode } = await attempt(new Targets(true), delivery, AbortSignal.abort());
    expect(errorCode).to.equal('INTERRUPTED');
  });
});
