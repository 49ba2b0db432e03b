import { expect } from 'chai';
import type { Store } from '../../src/engine/redis/connection.ts';
import { Due } from '../../src/engine/redis/due.ts';
import type { Scripts } from '../../src/engine/redis/scripts.ts';

const turn = () => new Promise(setImmediate);

describe('Draining an organization', () => {
  let sweeps: ((now: number, more: boolean, nextDue?: string) => void)[];
  let due: Due;
  beforeEach(() => {
    sweeps = [];
    const ask = () =>
      new Promise((resolve) => sweeps.push((now, more, nextDue) => resolve({ now, nextDue: nextDue ?? null, more })));
    const zadd = () => Promise.reject(new Error('the index is away'));
    const spublish = () => Promise.resolve(0);
    due = new Due({ zadd, spublish } as unknown as Store, { ask } as unknown as Scripts);
  });

  it('continues until nothing is due, even if the index is unavailable', async () => {
    const drained = due.drain('o');
    sweeps[0]?.(1, true);
    await turn();
    sweeps[1]?.(2, false, '9');
    expect(await drained).to.equal('2');
  });

  it('is shared by concurrent calls, except with a run that started before: it may have read the clock earlier', async () => {
    const all = [due.drain('o'), due.drain('o'), due.drain('o')];
    expect(sweeps).to.have.length(1);
    sweeps[0]?.(1, false);
    await turn();
    expect(sweeps).to.have.length(2);
    sweeps[1]?.(2, false);
    expect(await Promise.all(all)).to.deep.equal(['1', '2', '2']);
    due.drain('o');
    expect(sweeps).to.have.length(3);
  });
});
