// npm run bench:scale -- --help
import { availableParallelism } from 'node:os';
import { connect } from '../../../src/engine/redis/connection.ts';
import { machine, start } from '../options.ts';
import { startRedis } from '../peers/stores/redis.ts';
import type { Store } from '../peers/stores/store.ts';
import { MusterProcess, MusterServer } from '../servers/muster.ts';
import { Caller } from './caller.ts';
import { type Cost, Meter, perform } from './cost.ts';
import { AGENTS, type History, historyTable, measureHistory, PAYLOADS, packSpaces } from './history.ts';
import { operations } from './operations.ts';
import { type Footprint, LIFE, meanCost, needsOf, scalePlan } from './plan.ts';
import { type Options, readOptions } from './settings.ts';
import { findKnee } from './simulate.ts';
import { costTable, kneeTable, needsTable, scalePlanTable } from './tables.ts';

/** Each takes 100,000 requests a minute. */
const SPACES = 16;
const FIRST_OFFER = 600;
/** Enough that a slow answer does not delay the next offered request. */
const OPEN_CONNECTIONS = 200;
const WARM_UP = 100;
/** The calls of a message's life. The loads consist of them. */
const MIX = ['message.send', 'message.recv', 'message.complete'];

const cleanUps: (() => Promise<void> | void)[] = [];

async function cleanUp(): Promise<void> {
  for (const undo of cleanUps.splice(0).reverse()) await undo();
}

function payloadOf(bytes: number): unknown {
  return { text: 'x'.repeat(Math.max(0, bytes - '{"text":""}'.length)) };
}

type Costs = Record<'write' | 'read', Map<string, Cost>>;

/** The prefix of a space's keys; the first is 1. */
const keysOf = (index: number) => `muster:{bench}:${index + 1}`;
const spaceIdOf = (path: string) => path.split('/').at(-1) ?? '';
/** A page of the journal, before and after it is packed. */
const EVENTS_PAGE = 'events, page of 100';

async function measureCosts(store: Store, muster: MusterServer, options: Options): Promise<Costs> {
  const [path = ''] = muster.paths;
  const caller = new Caller(muster.url + path, muster.headers, options.connections);
  const meter = new Meter(store.address, keysOf(0), caller, muster.pid);
  const costs: Costs = { write: new Map(), read: new Map() };
  const payload = payloadOf(options.payloadBytes);
  try {
    await meter.learnFrom(async () => {
      for (const operation of operations(WARM_UP, payload)) await perform(caller, operation, options.connections);
    });
    for (const operation of operations(options.times, payload)) {
      if (operation.kind === 'aside') {
        await perform(caller, operation, options.connections);
        continue;
      }
      console.error(operation.name);
      const cost = await meter.cost(operation.times, () => perform(caller, operation, options.connections));
      costs[operation.kind].set(operation.name, cost);
    }
    const redis = await connect(store.address);
    await packSpaces(redis, [spaceIdOf(path)]).finally(() => redis.disconnect());
    const page = operations(options.times, payload).find(({ name }) => name === EVENTS_PAGE);
    if (page) {
      const cost = await meter.cost(page.times, () => perform(caller, page, options.connections));
      costs.read.set(`${EVENTS_PAGE}, packed`, cost);
    }
    return costs;
  } finally {
    meter.stop();
    caller.stop();
  }
}

/** Measures in all spaces but the first, where the calls were measured. */
async function measureHistories(store: Store, muster: MusterServer, options: Options): Promise<History[]> {
  const callers = muster.paths.map((path) => new Caller(muster.url + path, muster.headers, AGENTS));
  const spaces = muster.paths.map((path, index) => ({
    ...{ spaceId: spaceIdOf(path), keys: keysOf(index) },
    caller: callers[index] as Caller,
  }));
  const histories: History[] = [];
  try {
    for (const payload of Object.keys(PAYLOADS) as (keyof typeof PAYLOADS)[]) {
      console.error(`finished messages, ${payload}`);
      const how = { payload, messages: options.historyMessages, bytes: options.payloadBytes };
      histories.push(await measureHistory(store.address, store.pid, spaces.slice(1), how));
    }
    return histories;
  } finally {
    for (const caller of callers) caller.stop();
  }
}

/** The highest value of each figure. */
function footprintOf(histories: readonly History[]): Footprint {
  const highest = (of: (history: History) => number) => Math.max(...histories.map(of));
  return {
    event: highest(({ eventBytes }) => eventBytes / LIFE),
    packedEvent: highest(({ packedEventBytes }) => packedEventBytes / LIFE),
    message: highest(({ bytes, eventBytes }) => bytes - eventBytes),
    packedMessage: highest(({ packedBytes, packedEventBytes }) => packedBytes - packedEventBytes),
  };
}

async function simulate(store: Store, muster: MusterServer, options: Options): Promise<void> {
  const apis: { url: string; pid: number }[] = [muster];
  while (apis.length < Math.max(...options.simulate)) {
    const more = await MusterProcess.start(store.address, 'api');
    cleanUps.push(() => more.stop());
    apis.push(more);
  }
  const shard = { redisPid: store.pid, apis, headers: muster.headers, plans: muster.plans('through') };
  const { seconds } = options;
  for (const processes of options.simulate) {
    console.error(`${processes} API process(es)`);
    const settings = { seconds, connections: OPEN_CONNECTIONS, from: FIRST_OFFER, cores: availableParallelism() };
    console.log(kneeTable(await findKnee(shard, processes, settings)));
  }
}

async function bench(options: Options): Promise<void> {
  const { times, payloadBytes, retentionDays, shardGib, loads } = options;
  try {
    const store = await startRedis();
    cleanUps.push(() => store.stop());
    const muster = await MusterServer.start(store.address, SPACES, payloadOf(payloadBytes));
    cleanUps.push(() => muster.stop());
    console.log(
      `${times.toLocaleString('en')} calls each, ${options.connections} at once, payloads of ${payloadBytes} bytes, ` +
        `${retentionDays} days kept; ${machine()}`,
    );
    const costs = await measureCosts(store, muster, options);
    console.log(costTable('write', costs.write));
    console.log(costTable('read', costs.read));
    const mix = meanCost(MIX.map((name) => costs.write.get(name)).filter((cost) => cost !== undefined));
    const histories = await measureHistories(store, muster, options);
    console.log(historyTable(histories));
    const footprint = footprintOf(histories);
    const needs = loads.map((load) => needsOf(mix, footprint, { operationsPerSecond: load, retentionDays, shardGib }));
    console.log(needsTable(loads, needs, shardGib));
    console.log(scalePlanTable(scalePlan(costs.write, mix, footprint), shardGib));
    if (options.simulate.length > 0) await simulate(store, muster, options);
  } finally {
    await cleanUp();
  }
}

await start(readOptions(process.argv.slice(2)), bench, cleanUp);
