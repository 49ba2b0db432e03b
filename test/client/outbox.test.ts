import { expect } from 'chai';
import { createMuster } from '../../src/clients/typescript/index.ts';
import type { BatchedCall } from '../../src/clients/typescript/types.ts';
import { Outbox } from '../../src/clients/typescript/worker/outbox.ts';
import { until } from '../support/processes.ts';

describe('the calls that a worker gathers', () => {
  it('are sent at once when there are enough of them, with the receive that joins them at their end', async () => {
    const batches: string[][] = [];
    const muster = createMuster({
      ...{ url: 'http://127.0.0.1:1', key: 'k', spaceId: 's' },
      fetch: (_, init) => {
        batches.push(JSON.parse(String(init?.body)).calls.map(({ call }: { call: string }) => call));
        return Promise.reject(new TypeError('nobody is there'));
      },
    });
    const outbox = new Outbox(muster, 1_000, () => 2);
    const { recv, complete } = muster.call.message;
    const send = (call: BatchedCall, isJoining = false): void =>
      void outbox.send(call, isJoining ? { isJoining } : {}).catch(() => undefined);
    send(recv({ mailboxId: 'm', scopeId: '*', holder: 'h', holderSession: 's' }), true);
    send(complete({ messageId: 'a', token: 't' }));
    send(complete({ messageId: 'b', token: 't' }));
    send(complete({ messageId: 'c', token: 't' }));
    await until(() => batches.length === 2);
    const [first, second] = [['message.complete', 'message.complete', 'message.recv'], ['message.complete']];
    expect(batches).to.deep.equal([first, second]);
  });
});
