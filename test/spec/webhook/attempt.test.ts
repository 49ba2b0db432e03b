import { expect } from 'chai';
import { attempt } from '../../../src/webhook/attempt.ts';
import { testMessage } from '../../../src/webhook/message.ts';
import { Targets } from '../../../src/webhook/target.ts';
import { hangsOn } from '../../support/hangs-on.ts';

const message = testMessage('e', 'd', 0);
const delivery = { url: 'http://127.0.0.1:9/', secrets: [], message, at: 0 };

describe('an attempt to deliver', () => {
  it('leaves nothing with the signal that outlives it: a worker makes millions', async () => {
    const { signal } = new AbortController();
    const before = hangsOn(signal);
    for (let i = 0; i < 5; i++) await attempt(new Targets(false), delivery, signal);
    expect(hangsOn(signal)).to.equal(before);
  });

  it('that is stopped is INTERRUPTED, also before it began', async () => {
    const { errorCode } = await attempt(new Targets(true), delivery, AbortSignal.abort());
    expect(errorCode).to.equal('INTERRUPTED');
  });
});
