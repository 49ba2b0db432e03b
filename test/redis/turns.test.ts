import { expect } from 'chai';
import { Turns } from '../../src/engine/redis/turns.ts';

/** Turns on a clock of their own, and calls that end when the test says so. */
function scene() {
  let now = 0;
  const turns = new Turns(() => now);
  const started: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const call = (org: string, name: string) =>
    turns.run(
      org,
      () =>
        new Promise<string>((resolve, reject) => {
          started.push(name);
          ends.set(name, (error) => (error ? reject(error) : resolve(name)));
        }),
    );
  /** Ends a call after this time, and lets the next one start. */
  const end = async (name: string, afterMs: number, error?: Error) => {
    now += afterMs;
    ends.get(name)?.(error);
    for (let n = 0; n < 5; n++) await Promise.resolve();
  };
  return { call, end, started };
}

const names = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `${n + from}`);

describe('The turns of organizations at the store', () => {
  it('let one organization have one slow call at a time, in order, while another starts at once', async () => {
    const { call, end, started } = scene();
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
    for (const name of names(20, 10)) await end(name, 20);
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

  it('go on after a call that failed', async () => {
    const { call, end, started } = scene();
    const answers = names(6).map((name) => call('slow', name).catch((error: Error) => error.message));
    for (const name of names(6)) await end(name, 20, new Error(`no ${name}`));
    expect(started).to.deep.equal(names(6));
    expect(await Promise.all(answers)).to.deep.equal(names(6).map((name) => `no ${name}`));
  });
});
