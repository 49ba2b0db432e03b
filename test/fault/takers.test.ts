import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createMuster, type Muster } from '../../src/clients/typescript/index.ts';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import { expectAgreement } from '../support/agree.ts';
import { findPython } from '../support/python.ts';
import { Lab } from './lab.ts';
import { chanceOf, seedOf } from './seed.ts';
import { again } from './under-load.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const total = 300;

/** What a program has told the outside world. */
interface Told {
  readonly fence?: number;
  readonly message?: string;
  readonly made?: string;
  readonly saw?: string;
}

describe('Programs of both languages that take a lock and do steps once, killed under load', function () {
  this.timeout(240_000);
  let lab: Lab;
  let muster: Muster;
  const children: ChildProcess[] = [];

  before(async () => {
    lab = await Lab.opened();
    await lab.admit(1);
    const [tenant] = lab.tenants;
    muster = createMuster({ url: lab.urls()[0], key: tenant?.apiKey, spaceId: tenant?.spaceId, attempts: 20 });
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    await lab.stop();
  });

  it('leave no lock to nobody, hand out no fence twice, and see one value of each step', async () => {
    const chance = chanceOf(seedOf('killed takers'));
    const [tenant] = lab.tenants;
    const world = join(await lab.folder(), 'world');
    await writeFile(world, '');
    const pools = ['a', 'b', 'c'];
    for (const name of pools) await muster.pool.create({ name, units: 1 });
    const { id: mailboxId } = await muster.mailbox.create({ name: 'steps', backlogLimit: total, maxAttempts: 100 });
    const scopeId = randomUUID();
    for (let n = 0; n < total; n += 100)
      await muster.batch(
        Array.from({ length: 100 }, (_, i) => muster.call.message.send({ mailboxId, scopeId, payload: n + i })),
      );
    const python = await findPython();
    let complaints = '';
    const start = (at: number): ChildProcess => {
      // One each per API, which stays.
      const about = { url: lab.urls()[at % 2], key: tenant?.apiKey, spaceId: tenant?.spaceId };
      const env = { ...process.env, TAKER: JSON.stringify({ ...about, pools, mailboxId, world }) };
      const child =
        at < 2
          ? spawn(process.execPath, ['test/fault/taker.mjs'], { cwd: root, env })
          : spawn(python.command, ['test/fault/taker.py'], {
              cwd: root,
              env: { ...env, ...python.env, PYTHONPATH: 'src/clients/python' },
            });
      endAtExit(child);
      child.stderr.on('data', (text) => {
        complaints += text;
      });
      return child;
    };
    for (let at = 0; at < 4; at++) children.push(start(at));
    const kill = async (at: number): Promise<void> => {
      const ended = once(children[at] as ChildProcess, 'exit');
      children[at]?.kill('SIGKILL');
      await ended;
    };
    const kills = await again(async () => {
      await sleep(chance.below(1_000));
      const at = chance.below(children.length);
      await kill(at);
      children[at] = start(at);
    });
    for (;;) {
      const { counts } = await muster.mailbox.view({ mailboxId, waitSeconds: 20 });
      if (counts.ready + counts.delayed + counts.claimed === 0) break;
    }
    for (const at of children.keys()) await kill(at);
    const killedAt = performance.now();
    // Their places end after 30 s, and a lease of those who were granted it before that.
    const isFree = async () =>
      (await muster.pool.list({})).pools.every(({ heldUnits, waiting }) => heldUnits + waiting === 0);
    while (!(await isFree())) await sleep(200);
    const freeSeconds = Math.round((performance.now() - killedAt) / 1000);

    const told = (await readFile(world, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line): Told => JSON.parse(line));
    const fences = told.flatMap(({ fence }) => fence ?? []);
    expect(new Set(fences).size, 'each holder has a fence of its own').to.equal(fences.length);
    const granted = new Set<number>();
    for await (const { fence } of muster.hold.all({ limit: 200 })) if (fence !== null) granted.add(fence);
    expect(fences.filter((fence) => !granted.has(fence))).to.deep.equal([]);
    const seen = new Map<string, Set<string>>();
    for (const { message = '', saw } of told)
      if (saw !== undefined) seen.set(message, (seen.get(message) ?? new Set()).add(saw));
    expect(seen.size).to.equal(total);
    expect([...seen.values()].filter((values) => values.size > 1)).to.deep.equal([]);
    const states = new Map<string, number>();
    for await (const { state } of muster.message.all({ mailboxId, limit: 200 }))
      states.set(state, (states.get(state) ?? 0) + 1);
    expect([...states]).to.deep.equal([['ACKED', total]]);
    expect(complaints).to.equal('');
    const service = await lab.service();
    try {
      for (const one of lab.worlds(service)) await expectAgreement(one);
    } finally {
      await service.stop();
    }
    const steps = told.filter(({ made }) => made !== undefined).length;
    console.log(
      `      ${kills} kills, ${fences.length} holds, ${total} steps done ${steps} times; free after ${freeSeconds} s`,
    );
  });
});
