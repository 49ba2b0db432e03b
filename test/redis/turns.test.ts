import { expect } from 'chai';
import { Turns } from '../../src/engine/redis/turns.ts';

/** Turns on a clock of their own, and calls that end when the test says so. */
function scene() {
  let now = 0;
  const alarms: { at: number; act: () => void }[] = [];
  const soon: (() => void)[] = [];
  const turns = new Turns({
    now: () => now,
    after: (ms, act) => alarms.push({ at: now + ms, act }),
    soon: (act) => soon.push(act),
  });
  const started: string[] = [];
  const ends = new Map<string, (error?: Error, reply?: unknown) => void>();
  const call = (org: string, name: string) =>
    turns.run(
      org,
      () =>
        new Promise<unknown>((resolve, reject) => {
          started.push(name);
          ends.set(name, (error, reply = name) => (error ? reject(error) : resolve(reply)));
        }),
    );
  /** Ends a call after this time, and lets the next one start. */
  const end = async (name: string, afterMs: number, error?: Error, reply?: unknown) => {
    now += afterMs;
    ends.get(name)?.(error, reply);
    for (let n = 0; n < 5; n++) await Promise.resolve();
  };
  /** Lets time pass. */
  const pass = async (ms: number) => {
    now += ms;
    for (const { act } of alarms.splice(0).filter((one) => one.at <= now || !alarms.push(one))) act();
    for (let n = 0; n < 5; n++) await Promise.resolve();
  };
  /** What waits for an answer to be made takes so long. */
  const answer = async (ms: number) => {
    now += ms;
    for (const act of soon.splice(0)) act();
    for (let n = 0; n < 5; n++) await Promise.resolve();
  };
  return { call, end, answer, pass, started };
}

const names = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `${n + from}`);

describe('The turns of organizations at the store', () => {
  it('let one organization have one slow call at a time, in order, while another starts at once', async () => {
    const { call, end, pass, started } = scene();
    await Promise.all([call('calm', 'near'), end('near', 1)]);
    const answers = names(30).map((name) => call('slow', name));
    expect(started).to.deep.equal(['near', '0', '1', '2', '3']);
    for (const name of names(10)) await end(name, 20);
    // One at a time once the cost is known.
    expect(started.slice(1)).to.deep.equal(names(11));
    const other = call('calm', 'other');
    expect(started.at(-1)).to.equal('other');
    await end('other', 1);
    expect(await other).to.equal('other');
    for (const name of names(20, 10)) {
      await end(name, 20);
      await pass(61);
    }
    expect(await Promise.all(answers)).to.deep.equal(names(30));
  });

  it('let many cheap calls be in flight, however distant the store is', async () => {
    const { call, end, started } = scene();
    const answers = names(200).map((name) => call('busy', name));
    // All of a round trip are answered together, 50 ms after they were sent.
    for (let done = 0; done < 200; ) {
      const sent = started.slice(done);
      for (const [n, name] of sent.entries()) await end(name, n === 0 ? 50 : 0);
      done += sent.length;
    }
    expect(await Promise.all(answers)).to.deep.equal(names(200));
    const more = names(100, 200).map((name) => call('busy', name));
    const before = started.length;
    for (const name of names(4, 200)) await end(name, name === '200' ? 50 : 0);
    expect(started.length - before).to.be.above(30);
    for (let done = 204; done < 300; ) {
      const sent = started.slice(done);
      for (const [n, name] of sent.entries()) await end(name, n === 0 ? 50 : 0);
      done += sent.length;
    }
    await Promise.all(more);
  });

  it('give an organization whose calls are all large a quarter of the time, but only while others call', async () => {
    const { call, end, pass, started } = scene();
    await Promise.all([call('calm', 'near'), end('near', 0)]);
    const answers = names(30).map((name) => call('slow', name));
    for (const name of names(12)) {
      await end(name, 20);
      await pass(0);
    }
    // Nobody else has called for 100 ms, so one follows the other.
    expect(started).to.have.length(14);
    void call('calm', 'other');
    await end('other', 0);
    await end('12', 20);
    await pass(59);
    expect(started.at(-1)).to.equal('other');
    await pass(2);
    expect(started.at(-1)).to.equal('13');
    for (const name of names(17, 13)) {
      await end(name, 20);
      await pass(61);
    }
    await Promise.all(answers);
  });

  it('hold the turn of a large reply until it is answered, and count that', async () => {
    const { call, end, answer, pass, started } = scene();
    const reply = ['x'.repeat(3_000), ['y'.repeat(3_000), 1]];
    await Promise.all([call('calm', 'near'), end('near', 0)]);
    const answers = names(16).map((name) => call('large', name));
    for (const name of names(12)) {
      if (name === '11') void call('calm', 'other');
      const before = started.length;
      await end(name, 20, undefined, reply);
      expect(started).to.have.length(before);
      await answer(10);
    }
    // 20 ms there and 10 ms here.
    const before = started.length;
    await pass(89);
    expect(started).to.have.length(before);
    await pass(2);
    expect(started.length).to.equal(before + 1);
    for (const name of names(4, 12)) await end(name, 20);
    await Promise.all(answers);
  });

  it('let an organization go on whose calls were slow because of others', async () => {
    const { call, end, started } = scene();
    void call('slow', 'other');
    for (const [n, name] of names(20).entries()) {
      const answer = call('calm', name);
      expect(started.at(-1)).to.equal(name);
      await end(name, n % 7 === 0 ? 1 : 40);
      await answer;
    }
  });

  it('go on after a call that failed', async () => {
    const { call, end, started } = scene();
    const answers = names(6).map((name) => call('slow', name).catch((error: Error) => error.message));
    for (const name of names(6)) await end(name, 20, new Error(`no ${name}`));
    expect(started).to.deep.equal(names(6));
    expect(await Promise.all(answers)).to.deep.equal(names(6).map((name) => `no ${name}`));
  });
});
