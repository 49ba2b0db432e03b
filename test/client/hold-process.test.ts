import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createMuster, type Muster } from '../../src/clients/typescript/index.ts';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import { until } from '../support/processes.ts';
import { findPython } from '../support/python.ts';
import { World } from '../support/world.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const leaseSeconds = 30;

/** How a language starts so many holds: in how many processes, and how many in each. */
interface Way {
  readonly name: string;
  readonly processes: number;
  readonly count: number;
  readonly start: (asked: object) => Promise<ChildProcess>;
}

async function typescript(asked: object): Promise<ChildProcess> {
  const env = { ...process.env, HOLD: JSON.stringify(asked) };
  return spawn(process.execPath, ['test/client/hold-program.mjs'], { cwd: root, env });
}

async function python(asked: object): Promise<ChildProcess> {
  const { command, env: own } = await findPython();
  const paths = { PYTHONPATH: 'src/clients/python' };
  const env = { ...process.env, ...own, ...paths, HOLD: JSON.stringify(asked) };
  return spawn(command, ['test/python/hold_program.py'], { cwd: root, env });
}

const ways: readonly Way[] = [
  { name: 'TypeScript', processes: 1, count: 5, start: typescript },
  { name: 'Python in asyncio', processes: 1, count: 5, start: (asked) => python({ ...asked, inLoop: true }) },
  { name: 'Python in the main thread', processes: 2, count: 1, start: python },
];

for (const { name, processes, count, start } of ways)
  describe(`Processes that wait for a lock (${name})`, () => {
    let world: World;
    let muster: Muster;
    let children: ChildProcess[];
    let said: string;
    let errors: string;
    let leader: { readonly holdId: string; readonly token: string };
    const waiting = async () => (await muster.pool.list({ name: 'leader' })).pools[0]?.waiting;

    beforeEach(async () => {
      world = await World.create();
      muster = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
      const { id: poolId } = await muster.pool.create({ name: 'leader', units: 1 });
      const lead = { poolId, scopeId: randomUUID(), holder: 'leader', leaseSeconds: 600 };
      const { id: holdId, token } = await muster.pool.acquire(lead);
      leader = { holdId, token };
      const asked = { url: world.url, key: world.apiKey, spaceId: world.spaceId, pool: 'leader', leaseSeconds, count };
      [said, errors] = ['', ''];
      children = await Promise.all(Array.from({ length: processes }, () => start(asked)));
      for (const child of children) {
        endAtExit(child);
        child.stdout?.on('data', (text) => {
          said += text;
        });
        child.stderr?.on('data', (text) => {
          errors += text;
        });
      }
      await until(async () => (await waiting()) === processes * count);
    });
    afterEach(() => {
      for (const child of children) child.kill('SIGKILL');
    });

    async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
      const ended = once(child, 'exit');
      child.kill(signal);
      expect(await ended, errors).to.deep.equal([null, signal]);
    }

    it('leave the queue at SIGTERM, so that the next candidate leads at once', async () => {
      await Promise.all(children.map((child) => end(child, 'SIGTERM')));
      expect(await waiting()).to.equal(0);
      await muster.hold.release(leader);
      const led = await muster.pool('leader').hold(({ record }) => record.state, { ttlSeconds: 0 });
      expect(led).to.equal('HELD');
      expect(said).to.equal('');
    });

    it('release what they hold at SIGTERM', async () => {
      await muster.hold.release(leader);
      await until(() => said === 'holds\n');
      await Promise.all(children.map((child) => end(child, 'SIGTERM')));
      const { pools } = await muster.pool.list({ name: 'leader' });
      expect(pools[0]).to.include({ heldUnits: 0, waiting: 0 });
    });

    it('killed, keep the lock from others for one lease, not for one each', async () => {
      await Promise.all(children.map((child) => end(child, 'SIGKILL')));
      const killed = Date.now();
      await world.at(killed);
      await muster.hold.release(leader);
      const scopeId = randomUUID();
      const { pools } = await muster.pool.list({ name: 'leader' });
      const asked = { poolId: pools[0]?.id ?? '', scopeId, holder: 'next', ttlSeconds: 600 };
      const { id: holdId } = await muster.pool.acquire(asked);
      let seconds = 0;
      while ((await muster.hold.view({ holdId })).state !== 'HELD') {
        await world.at(killed + ++seconds * 1000);
        await world.service.due.drain(world.org);
      }
      // The first of them is granted it; by the end of that lease, the places of the others have ended.
      expect(seconds).to.equal(leaseSeconds);
    });
  });
