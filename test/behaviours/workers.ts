import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createMuster, Worker } from '../../src/clients/typescript/index.ts';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import { findPython } from '../support/python.ts';
import type { World } from '../support/world.ts';

const clients = fileURLToPath(new URL('../../src/clients/python', import.meta.url));
const program = fileURLToPath(new URL('workers.py', import.meta.url));

/** Starts and closes workers of one client. */
export interface WorkerHost {
  /** Starts a worker of a mailbox, with four messages at once. url: the server, or a proxy in front of it. */
  start(mailboxId: string, url: string): Promise<{ close(): Promise<void> }>;
  stop(): Promise<void>;
}

/** The clients, each with its workers. */
export const hosts: Readonly<Record<string, (world: World) => Promise<WorkerHost>>> = {
  TypeScript: async (world) => ({
    start: async (mailboxId, url) => {
      const muster = createMuster({ url, key: world.apiKey, spaceId: world.spaceId });
      const options = { mailbox: { mailboxId }, concurrency: 4, closeOnSignals: false };
      return new Worker(muster, options, ({ payload }) => payload);
    },
    stop: async () => undefined,
  }),
  Python: (world) => pythonHost(world, 'sync'),
  asyncio: (world) => pythonHost(world, 'async'),
};

async function pythonHost(world: World, kind: string): Promise<WorkerHost> {
  const python = await findPython();
  const env = {
    ...python.env,
    PYTHONPATH: clients,
    MUSTER_URL: world.url,
    MUSTER_KEY: world.apiKey,
    MUSTER_SPACE: world.spaceId,
  };
  const child = spawn(python.command, [program, kind], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  endAtExit(child);
  const closed = new Map<number, () => void>();
  createInterface(child.stdout).on('line', (line) => closed.get(JSON.parse(line).closed)?.());
  const ask = (fields: object): void => void child.stdin.write(`${JSON.stringify(fields)}\n`);
  let count = 0;
  return {
    start: async (mailboxId, url) => {
      const number = count++;
      ask({ do: 'start', number, mailboxId, url });
      const close = () =>
        new Promise<void>((resolve) => {
          closed.set(number, resolve);
          ask({ do: 'close', number });
        });
      return { close };
    },
    stop: async () => {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}
