// The ways in which messages go through a store: Muster over HTTP, one by one or in batches; a peer in process; a peer
// behind Koa.
import { PAYLOAD } from '../contenders/contender.ts';
import { BODY } from '../contenders/forked.ts';
import { BATCH_CONNECTIONS } from '../contenders/muster.ts';
import type { Driver, JobResult, Plan } from '../driver.ts';
import { ForkedServer } from '../servers/fork.ts';
import { MusterServer } from '../servers/muster.ts';
import { BATCH } from '../servers/muster-space.ts';
import type { ClientName } from './clients/all.ts';
import type { ThroughCommand, ThroughResult } from './in-process.ts';

export interface Settings {
  driver: Driver;
  connections: number;
  /** The number of spaces that Muster is driven over. */
  spaces: number;
}

export interface Run {
  /** Messages sent, received and completed. */
  count: number;
  seconds: number;
  http?: JobResult;
}

export interface Runner {
  /** The client's process, or the service's. */
  pid: number;
  run(messages: number): Promise<Run>;
  stop(): Promise<void> | void;
}

export type StartRunner = (address: string, settings: Settings) => Promise<Runner>;

/** The flags that Muster ships with, for every peer's process as well. */
const FLAGS = ['--max-semi-space-size=64'];

const PLAN: Plan = [
  { name: 'send', path: '/send', body: BODY, keyed: true },
  { name: 'recv', path: '/recv', body: '{}', keyed: false, keep: { message: 'id', token: 'token' } },
  { name: 'complete', path: '/complete/<message>', body: '{"token":"<token>"}', keyed: true },
];

async function drive(
  { driver, connections }: Settings,
  server: { url: string; headers: Record<string, string> },
  plans: readonly Plan[],
  messages: number,
): Promise<Run> {
  const { url, headers } = server;
  const http = await driver.run({ url, headers, plans, connections, amount: PLAN.length * messages });
  return { count: http.laps, seconds: http.seconds, http };
}

export const muster: StartRunner = async (address, settings) => {
  const server = await MusterServer.start(address, settings.spaces, PAYLOAD);
  return {
    pid: server.pid,
    run: (messages) => drive(settings, server, server.plans('through'), messages),
    stop: () => server.stop(),
  };
};

/** Fifty messages in each request, on fewer connections. */
export const musterBatch: StartRunner = async (address, settings) => {
  const server = await MusterServer.start(address, settings.spaces, PAYLOAD);
  const connections = Math.min(BATCH_CONNECTIONS, settings.connections);
  return {
    pid: server.pid,
    run: async (messages) => {
      const { url, headers } = server;
      // Every connection completes its plan the same number of times.
      const laps = Math.ceil(messages / BATCH / connections) * connections;
      const plans = server.batchPlans('through');
      const http = await settings.driver.run({ url, headers, plans, connections, amount: PLAN.length * laps });
      return { count: http.laps, seconds: http.seconds, http };
    },
    stop: () => server.stop(),
  };
};

export function inProcess(client: ClientName): StartRunner {
  return async (address, { connections }) => {
    const env = { BENCH_CLIENT: client, BENCH_STORE: address, BENCH_AT_ONCE: String(connections) };
    const server = await ForkedServer.start('peers/in-process.ts', env, FLAGS);
    return {
      pid: server.pid,
      run: async (messages) => {
        const command = { messages, body: JSON.parse(BODY) };
        const { seconds } = await server.ask<ThroughCommand, ThroughResult>(command);
        return { count: messages, seconds };
      },
      stop: () => server.stop(),
    };
  };
}

export function behindKoa(client: ClientName): StartRunner {
  return async (address, settings) => {
    const env = { BENCH_CLIENT: client, BENCH_STORE: address };
    const server = await ForkedServer.start('peers/koa.ts', env, FLAGS);
    return {
      pid: server.pid,
      run: (messages) => drive(settings, { url: server.url, headers: {} }, [PLAN], messages),
      stop: () => server.stop(),
    };
  };
}
