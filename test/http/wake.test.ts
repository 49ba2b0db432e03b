import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type { Store } from '../../src/engine/redis/connection.ts';
import { Topics } from '../../src/engine/redis/held.ts';
import { Wake } from '../../src/engine/redis/wake.ts';

/** A subscription whose messages the test sends. */
class Subscriber extends EventEmitter {
  readonly asked: string[] = [];
  ssubscribe = async (name: string) => this.asked.push(`+${name}`);
  sunsubscribe = async (name: string) => this.asked.push(`-${name}`);
}

const never = () => new AbortController().signal;
const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('Held requests of a process', () => {
  let subscriber: Subscriber;
  let wake: Wake;
  beforeEach(() => {
    subscriber = new Subscriber();
    const connection = subscriber as unknown as Store;
    wake = new Wake(connection, connection);
  });
  const publish = (...tokens: string[]) => subscriber.emit('smessage', 'c', tokens.join(','));
  /** Looks after each wake-up until it finds something. */
  async function hold(
    look: () => Promise<string | undefined>,
    signal = never(),
    topic = 'm/s',
    waitSeconds = 5,
    on = 'c',
  ) {
    const held = wake.hold(on, { waitSeconds, topic }, signal);
    try {
      while (await held.next()) {
        const found = await look();
        if (found !== undefined) return found;
      }
    } catch (error) {
      held.passOn();
      throw error;
    } finally {
      held.end();
    }
    return undefined;
  }

  /** Takes the available items, one per look. */
  const shelf = (found: string[]) => async () => found.shift();

  it('have one subscription, to the channels that requests wait on', async () => {
    const there: string[] = [];
    const both = [hold(shelf(there)), hold(shelf(there))];
    await tick();
    expect(subscriber.asked).to.deep.equal(['+c']);
    there.push('1', '2');
    publish('m/s', 'm/s');
    expect(await Promise.all(both)).to.deep.equal(['1', '2']);
    expect(subscriber.asked).to.deep.equal(['+c', '-c']);
    expect(wake.size).to.equal(0);
  });

  it('are woken one per token, longest waiting first; one that finds nothing keeps its place', async () => {
    const looks: string[] = [];
    const there: string[] = [];
    const named = (name: string) => async () => {
      looks.push(name);
      return there.shift();
    };
    const a = hold(named('a'));
    await tick();
    const b = hold(named('b'));
    await tick();
    publish('x/s', 'm/root/s');
    await tick();
    there.push('1');
    publish('m/s');
    expect(await a).to.equal('1');
    expect(looks).to.deep.equal(['a', 'b', 'a', 'a']);
    there.push('2');
    publish('m/s');
    expect(await b).to.equal('2');
  });

  it('pass a wake-up during a successful look on to the next request', async () => {
    const there: string[] = [];
    let answer: (value: string) => void = () => undefined;
    const a = hold(() => new Promise((resolve) => (answer = resolve)));
    await tick();
    const b = hold(shelf(there));
    await tick();
    there.push('second');
    publish('m/s');
    await tick();
    answer('first');
    expect([await a, await b]).to.deep.equal(['first', 'second']);
  });

  it('pass a wake-up on if its request has gone or failed', async () => {
    const there: string[] = [];
    const abort = new AbortController();
    const gone = hold(shelf(there), abort.signal);
    await tick();
    let fail = false;
    const failing = hold(async () => {
      if (fail) throw new Error('refused');
      return undefined;
    }).catch((error: Error) => error.message);
    await tick();
    const b = hold(shelf(there));
    await tick();
    there.push('1');
    fail = true;
    publish('m/s');
    abort.abort();
    expect([await gone, await failing, await b]).to.deep.equal([undefined, 'refused', '1']);
  });

  it('wake longest waiting first among those for a scope or a scope above it', async () => {
    const woken: string[] = [];
    const topics = ['m/below', 'm/root', 'm/beside', 'other/root', 'm/below'];
    const held = topics.map((topic, i) => {
      let looks = 0;
      const look = async () => {
        if (looks++ === 0) return undefined;
        woken.push(`${i} ${topic}`);
        return topic;
      };
      return hold(look, undefined, topic);
    });
    await tick();
    for (let i = 0; i < 4; i++) publish('m/root/below');
    await Promise.all([0, 1, 4].map((i) => held[i]));
    expect(woken).to.deep.equal(['0 m/below', '1 m/root', '4 m/below']);
    expect(wake.size).to.equal(2);
    wake.close();
    await Promise.all(held);
    expect(wake.size).to.equal(0);
  });

  it('are not visited for tokens of other topics', () => {
    const topics = new Topics();
    let looked = 0;
    for (let number = 0; number < 1000; number++) {
      const token = () => void looked++;
      const held = {
        topic: `m/${number}`,
        receiver: undefined,
        since: 0,
        number,
        wake: () => undefined,
        token: undefined,
        isLeft: false,
      };
      topics.add(Object.defineProperty(held, 'token', { get: token }));
    }
    expect([topics.size, topics.longest('m/root/s'), looked]).to.deep.equal([1000, undefined, 0]);
    expect(topics.longest('m/7/s/3')?.number).to.equal(3);
    expect(looked).to.equal(2);
  });

  it('end in time, even if a timer fires slightly early', async () => {
    const many = Array.from({ length: 300 }, (_, i) => hold(shelf([]), never(), 'm/s', (i % 30) / 1000));
    expect(new Set(await Promise.all(many))).to.deep.equal(new Set([undefined]));
    expect(wake.size).to.equal(0);
    subscriber.ssubscribe = () => new Promise(() => undefined);
    expect(await hold(shelf(['1']), never(), 'm/s', 0.005, 'd')).to.equal(undefined);
  });

  it('pass every message to a listener, and an empty one if some may be lost, until it stops', async () => {
    let heard = 0;
    const listening = wake.listen('c', () => heard++);
    const held = hold(shelf(['1']));
    expect(await held).to.equal('1');
    publish('m/s');
    for (const event of ['ready', 'subscribersReady']) subscriber.emit(event);
    const other = wake.listen('c', () => undefined);
    listening.stop();
    publish('m/s');
    expect(heard).to.equal(3);
    other.stop();
    expect(subscriber.asked).to.deep.equal(['+c', '-c']);
  });

  it('retry a failed subscription while requests wait on its channel', async () => {
    const { ssubscribe } = subscriber;
    subscriber.ssubscribe = async (name) => {
      await ssubscribe(name);
      throw new Error('away');
    };
    const gone = wake.listen('gone', () => undefined);
    const heard = new Promise<void>((resolve) => {
      wake.listen('c', () => resolve()).ready.then(() => publish());
    });
    await tick();
    subscriber.ssubscribe = ssubscribe;
    gone.stop();
    await heard;
    expect(subscriber.asked).to.deep.equal(['+gone', '+c', '-gone', '+c']);
  });

  it('all look again after a lost connection; closing releases all', async () => {
    const there: string[] = [];
    const a = hold(shelf(there));
    await tick();
    there.push('1');
    subscriber.emit('ready');
    expect(await a).to.equal('1');
    const b = hold(shelf(there));
    await tick();
    wake.close();
    expect(await b).to.equal(undefined);
    expect(await hold(shelf(['late']))).to.equal(undefined);
  });
});
