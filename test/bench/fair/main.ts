// npm run bench:fair -- --help
import { randomUUID } from 'node:crypto';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMuster } from '../../../src/clients/typescript/index.ts';
import { forEach, makeTenants, type Tenant } from '../idle/tenants.ts';
import { machine, start } from '../options.ts';
import { startRedis } from '../peers/stores/redis.ts';
import { fixed, quantile, ratio, table } from '../report.ts';
import { ForkedServer } from '../servers/fork.ts';
import { MusterProcess } from '../servers/muster.ts';
import type { Orders } from './attacker.ts';
import { type Attack, attacks } from './attacks.ts';
import { type Options, readOptions } from './settings.ts';

/** What the attacker's space holds: enough that each of its requests is a large one. */
const scopes = 2_000;
const messages = 3_000;
/** How often somebody writes to a space with streams. */
const writeMs = 50;
const warmUpMs = 1_000;

const cleanUps: (() => Promise<void> | void)[] = [];

async function cleanUp(): Promise<void> {
  for (const undo of cleanUps.splice(0).reverse()) await undo();
}

/** Fills the attacker's space. Resolves with the id of its largest run. */
async function fill(tenant: Tenant, url: string): Promise<string> {
  const muster = createMuster({ url, ...tenant.access });
  const { id: mailboxId } = await muster.mailbox.create({ name: 'bench', backlogLimit: 100_000 });
  const run = randomUUID();
  const hundreds = (count: number) => Array.from({ length: count / 100 });
  await forEach(hundreds(scopes), () =>
    muster.batch(Array.from({ length: 100 }, (_, n) => muster.call.scope.create({ name: `scope ${n}` }))),
  );
  await forEach(hundreds(messages), () =>
    muster.batch(
      Array.from({ length: 100 }, () =>
        muster.call.message.send({ mailboxId, scopeId: run, payload: 'x'.repeat(200) }),
      ),
    ),
  );
  return run;
}

/** The quiet organization: sends, receives and completes, one call after another. Resolves with the milliseconds of each. */
async function quiet(tenant: Tenant, url: string, { seconds, pause }: Options): Promise<number[]> {
  const muster = createMuster({ url, ...tenant.access });
  const { id: mailboxId } = await muster.mailbox.create({ name: 'quiet', unique: true });
  const scopeId = randomUUID();
  const took: number[] = [];
  const begun = performance.now();
  const timed = async <T>(call: Promise<T>): Promise<T> => {
    const at = performance.now();
    const answer = await call;
    if (at > begun + warmUpMs) took.push(performance.now() - at);
    return answer;
  };
  while (performance.now() < begun + seconds * 1000) {
    await timed(muster.message.send({ mailboxId, scopeId, payload: 1 }));
    const claim = await timed(muster.message.recv({ mailboxId, scopeId, holder: 'a', holderSession: 's' }));
    if (claim) await timed(muster.message.complete({ messageId: claim.id, token: claim.token }));
    await sleep(pause);
  }
  return took;
}

interface Places {
  readonly url: string;
  readonly calm: Tenant;
  readonly hostile: Tenant;
  readonly run: string;
}

/** The quiet organization's milliseconds while the attack's connections ask for this. */
async function beside(attack: Attack, isBase: boolean, { url, calm, hostile, run }: Places, options: Options) {
  const child = await ForkedServer.start('fair/attacker.ts', {});
  cleanUps.push(() => child.stop());
  // Its clients are not to take the processor from the servers.
  setPriority(child.pid, 19);
  const path = attack.path.replace('<run>', run);
  const target = isBase ? `${url}/healthz` : attack.isKeyless ? url + path : hostile.urlOf(url, path);
  const stream = attack.isStream && !isBase;
  const headers = { ...(!attack.isKeyless && hostile.headers), ...(stream && { accept: 'text/event-stream' }) };
  const orders: Orders = {
    ...{ url: target, headers, isStream: stream, seconds: options.seconds },
    connections: isBase && attack.isStream ? 40 : attack.connections,
  };
  let isOver = false;
  const writes = async () => {
    while (attack.isStream && !isOver) {
      await hostile.call(url, '/scopes', { name: 'written' });
      await sleep(writeMs);
    }
  };
  const [counts, took] = await Promise.all([
    child.ask<Orders, Record<string, number>>(orders),
    quiet(calm, url, options).finally(() => {
      isOver = true;
    }),
    writes(),
  ]);
  child.stop();
  return { counts, took };
}

async function bench(options: Options): Promise<void> {
  try {
    const store = await startRedis();
    cleanUps.push(() => store.stop());
    const [calm, hostile] = await makeTenants(store.address, 2);
    if (!calm || !hostile) throw new Error('no organizations were made');
    const server = await MusterProcess.start(store.address);
    cleanUps.push(() => server.stop());
    const { url } = server;
    const places = { url, calm, hostile, run: await fill(hostile, url) };
    const rows: string[][] = [];
    for (const name of options.only) {
      const attack = attacks[name];
      if (!attack) continue;
      const base = await beside(attack, true, places, options);
      const attacked = await beside(attack, false, places, options);
      const figures = [0.5, 0.99].flatMap((part) => {
        const [before, with_] = [quantile(base.took, part), quantile(attacked.took, part)];
        return [fixed(before, 2), fixed(with_, 2), fixed(ratio(with_, before), 1)];
      });
      const answers = Object.entries(attacked.counts).map(([status, count]) => `${count} × ${status}`);
      rows.push([name, ...figures, answers.join(', ')]);
    }
    const header = ['attack', 'p50 base', 'beside', 'ratio', 'p99 base', 'beside', 'ratio', 'answers to the attack'];
    console.log(table(`ms of the quiet organization's calls; ${machine()}`, header, rows));
  } finally {
    await cleanUp();
  }
}

await start(readOptions(process.argv.slice(2)), bench, cleanUp);
