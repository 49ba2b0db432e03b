import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createMuster, type Muster } from '../../src/clients/typescript/index.ts';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import { Lab } from './lab.ts';
import { chanceOf, seedOf } from './seed.ts';
import { again } from './under-load.ts';

const program = fileURLToPath(new URL('../client/worker-program.mjs', import.meta.url));
const fleet = 4;
const total = 3_000;

describe('Workers of the typed client, killed under load', function () {
  this.timeout(240_000);
  let lab: Lab;
  let proxy: Server;
  let muster: Muster;
  let url: string;
  const children: ChildProcess[] = [];

  before(async () => {
    lab = await Lab.opened();
    await lab.admit(1);
    // One address for APIs that come and go.
    proxy = createServer((client) => {
      const { port } = new URL(lab.urls()[Math.floor(Math.random() * lab.apis.length)] ?? 'http://127.0.0.1:1');
      const server = connect(Number(port), '127.0.0.1');
      for (const [one, other] of [[client, server] as const, [server, client] as const])
        one.on('error', () => other.destroy()).on('close', () => other.destroy());
      client.pipe(server).pipe(client);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const [tenant] = lab.tenants;
    muster = createMuster({ url, key: tenant?.apiKey, spaceId: tenant?.spaceId, attempts: 20 });
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    proxy.close();
    await lab.stop();
  });

  it('lose nothing, and do nothing twice that is done once: completions, results, money', async () => {
    const chance = chanceOf(seedOf('killed workers'));
    const scopeId = randomUUID();
    const { id: mailboxId } = await muster.mailbox.create({ name: 'jobs', backlogLimit: total, maxAttempts: 100 });
    const { id: results } = await muster.mailbox.create({ name: 'results', backlogLimit: total });
    const { id: budgetId } = await muster.budget.create({
      name: 'b',
      currency: 'EUR',
      scale: 2,
      limitMinor: '1000000',
    });
    const [tenant] = lab.tenants;
    const options = { mailbox: { mailboxId }, resultsTo: { mailboxId: results }, concurrency: 10, leaseSeconds: 5 };
    const WORKER = JSON.stringify({
      url,
      key: tenant?.apiKey,
      spaceId: tenant?.spaceId,
      budget: { budgetId },
      ...options,
    });
    let complaints = '';
    const start = () => {
      const child = spawn(process.execPath, [program], {
        env: { ...process.env, WORKER },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      endAtExit(child);
      child.stderr.on('data', (text) => {
        complaints += text;
      });
      return child;
    };
    for (let n = 0; n < fleet; n++) children.push(start());

    const sending = (async () => {
      for (let n = 0; n < total; n += 50) {
        const some = Array.from({ length: 50 }, (_, i) => ({ n: n + i, ms: chance.below(100) }));
        const sends = some.map((payload) => {
          const workKey = `${payload.n}`;
          return muster.call.message.send({ mailboxId, scopeId, payload, workKey });
        });
        for (const sent of await muster.batch(sends)) expect(sent.ok).to.equal(true);
        await sleep(200);
      }
    })();
    const kills = again(async () => {
      await sleep(chance.below(500));
      const at = chance.below(fleet);
      const [child, signal] = [children[at], chance.of(['SIGKILL', 'SIGKILL', 'SIGTERM'] as const)];
      const ended = child && once(child, 'exit');
      child?.kill(signal);
      await ended;
      children[at] = start();
    });
    const outages = again(async () => {
      await sleep(500 + chance.below(1_500));
      const at = chance.below(lab.apis.length);
      await lab.apis[at]?.end('SIGKILL');
      lab.apis[at] = await lab.api();
    });
    console.log(`      ${await kills} ends of a worker, ${await outages} kills of an API`);
    await sending;
    for (;;) {
      const { counts } = await muster.mailbox.view({ mailboxId, waitSeconds: 20 });
      if (counts.ready + counts.delayed + counts.claimed === 0) break;
    }

    let attempts = 0;
    const states = new Map<string, number>();
    for await (const message of muster.message.all({ mailboxId, limit: 200 })) {
      states.set(message.state, (states.get(message.state) ?? 0) + 1);
      attempts += message.attempts;
    }
    expect([...states]).to.deep.equal([['ACKED', total]]);
    const published: number[] = [];
    for await (const { payload } of muster.message.all<{ n: number }>({ mailboxId: results, limit: 200 }))
      published.push(payload.n);
    expect(published.sort((a, b) => a - b)).to.deep.equal(Array.from({ length: total }, (_, n) => n));
    const acked = new Map<string, number>();
    for await (const { type, aggregateId } of muster.event.all({ limit: 500 }))
      if (type === 'message.acked') acked.set(aggregateId, (acked.get(aggregateId) ?? 0) + 1);
    expect([acked.size, [...acked.values()].every((count) => count === 1)]).to.deep.equal([total, true]);
    const { balances } = await muster.budget.view({ budgetId });
    // What is settled twice was worked on twice: an attempt that died between settling and completing.
    expect(balances.reserved).to.equal('0');
    expect(Number(balances.settled)).to.be.within(total, attempts);
    console.log(`      ${total} messages in ${attempts} attempts, ${Number(balances.settled) - total} settled in vain`);
    expect(complaints).to.equal('');
  });
});
