import { expect } from 'chai';
import { libraryOf } from '../../src/engine/library/library.ts';
import { Refusal, StoreUnavailable } from '../../src/engine/redis/scripts.ts';
import { luaNames } from '../../src/primitives/primitives.ts';
import { OwnStore } from '../support/own-store.ts';
import { until } from '../support/processes.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('calls while their script is in flight', () => {
  let ownStore: OwnStore;
  let door: Awaited<ReturnType<OwnStore['admin']>>;
  let office: Awaited<ReturnType<OwnStore['admin']>>;

  before(async () => {
    ownStore = await OwnStore.start();
    office = await ownStore.admin();
    door = await ownStore.admin();
    await send();
  });
  after(() => ownStore.stop());

  const names = libraryOf(luaNames).scripts.find(({ name }) => name === 'mailbox/send')?.args ?? [];

  /** For an organization that does not exist: the store replies that the key is unknown. */
  const send = (payload = ''): Promise<unknown> => {
    const args = Object.fromEntries(names.map((name) => [name, '']));
    return office.scripts.execute('mailbox/send', 'nobody', { ...args, payload }).catch((error: Error) => error);
  };
  /** Makes calls in one turn of the event loop per amount. */
  const sendInTurns = async (...amounts: number[]): Promise<Promise<unknown>[]> => {
    const calls: Promise<unknown>[] = [];
    for (const amount of amounts) {
      for (let i = 0; i < amount; i++) calls.push(send());
      await turn();
    }
    return calls;
  };
  const runs = async (): Promise<number> =>
    Number(/cmdstat_fcall:calls=(\d+)/.exec(await door.store.info('commandstats'))?.[1] ?? 0);
  const pause = () => door.store.client('PAUSE', 60_000, 'WRITE');
  const goOn = () => door.store.client('UNPAUSE');

  it('are sent together when it is answered; the first is sent at once', async () => {
    const before = await runs();
    await pause();
    const calls = await sendInTurns(1, 2, 3, 4);
    await goOn();
    for (const error of await Promise.all(calls)) expect(error).to.be.instanceOf(Refusal);
    expect((await runs()) - before).to.equal(2);
  });

  it('are sent earlier if there are 32', async () => {
    const before = await runs();
    await pause();
    const calls = await sendInTurns(1, 20, 20, 1);
    await goOn();
    for (const error of await Promise.all(calls)) expect(error).to.be.instanceOf(Refusal);
    expect((await runs()) - before).to.equal(3);
  });

  it('are sent earlier if their payloads have 128 KiB in total', async () => {
    const before = await runs();
    await pause();
    const calls = await sendInTurns(1);
    for (let i = 0; i < 5; i++) calls.push(send('x'.repeat(64 * 1024)));
    await turn();
    await goOn();
    for (const error of await Promise.all(calls)) expect(error).to.be.instanceOf(Refusal);
    expect((await runs()) - before, '1, then 2, 2 and the last').to.equal(4);
  });

  it('fail with it if the connection breaks, and later ones are sent', async () => {
    await pause();
    const calls = await sendInTurns(1, 5, 40, 5);
    await door.store.call('CLIENT', 'KILL', 'TYPE', 'normal');
    for (const error of await Promise.all(calls)) expect(error).to.be.instanceOf(StoreUnavailable);
    await goOn();
    let outcome: unknown;
    await until(async () => {
      outcome = await send();
      return outcome instanceof Refusal;
    });
    expect(outcome).to.have.property('code', 'INVALID_API_KEY');
  });
});
