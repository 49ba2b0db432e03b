import type { Server } from 'node:http';
import type { Logger } from 'pino';
import { createApp } from './http/app.ts';
import { openapi } from './http/openapi.ts';
import { allErrors, allKeys, allRoutes } from './primitives.ts';
import { connect, type Store } from './redis/connection.ts';
import { Due } from './redis/due.ts';
import type { Overrides } from './redis/loader.ts';
import { Scripts } from './redis/scripts.ts';
import { Wake } from './redis/wake.ts';
import { Sweeper } from './workers/sweeper.ts';

export interface ServiceOptions {
  readonly redisUrl: string;
  readonly role: 'api' | 'worker' | 'all';
  readonly host: string;
  readonly port: number;
  readonly log: Logger;
  /** Tests put their clock in the place of lib/clock. */
  readonly overrides?: Overrides;
}

/** The running product: API, workers or both, on one store. */
export interface MusterService {
  readonly store: Store;
  readonly scripts: Scripts;
  readonly due: Due;
  readonly wake: Wake;
  /** http://host:port; undefined for a worker. */
  readonly url: string | undefined;
  /** Lets go of held requests, ends running ones, stops workers, closes connections. */
  stop(): Promise<void>;
}

/** Starts the parts that the role names; resolves when they serve. */
export async function startService(options: ServiceOptions): Promise<MusterService> {
  const connections: Store[] = [];
  const open = async (kind: 'calls' | 'patient'): Promise<Store> => {
    const connection = await connect(options.redisUrl, kind);
    connections.push(connection);
    return connection;
  };
  const store = await open('calls');
  const scripts = new Scripts(store, allKeys, options.overrides);
  const due = new Due(store, scripts);
  const wake = new Wake(await open('patient'));
  const sweeper = options.role === 'api' ? undefined : await Sweeper.start(await open('patient'), due, options.log);
  const server = options.role === 'worker' ? undefined : await listen(options, { store, scripts, due, wake });
  return {
    store,
    scripts,
    due,
    wake,
    url: server && urlOf(server, options.host),
    async stop() {
      wake.close();
      if (server) await close(server);
      await sweeper?.stop();
      for (const connection of connections) connection.disconnect();
    },
  };
}

async function listen(options: ServiceOptions, parts: { store: Store; scripts: Scripts; due: Due; wake: Wake }): Promise<Server> {
  const server = createApp({
    ...parts,
    log: options.log,
    routes: allRoutes,
    errors: allErrors,
    openapi: JSON.stringify(openapi(allRoutes, allErrors)),
    ready: async () => {
      await parts.store.ping();
      return true;
    },
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return server;
}

function urlOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** No new connections; idle ones end now, the others after their answer. */
async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  await closed;
}
