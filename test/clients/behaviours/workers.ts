import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createMuster, type StartRate, Worker } from '../../../src/clients/typescript/index.ts';
import { endAtExit } from '../../../src/external-programs/at-exit.ts';
import { findPython } from '../../support/python.ts';
import type { World } from '../../support/world.ts';
import { follow, type Step } from './script.ts';

const clients = fileURLToPath(new URL('../../../src/clients/python', import.meta.url));
const program = fileURLToPath(new URL('workers.py', import.meta.url));

/** The options of a worker, in both languages. closeSeconds null: without end. */
export interface Options {
  readonly concurrency?: number;
  readonly batch?: boolean;
  readonly rate?: StartRate;
  readonly leaseSeconds?: number;
  readonly scopeId?: string;
  /** The id of a mailbox. */
  readonly resultsTo?: string;
  readonly closeSeconds?: number | null;
}

/** A worker to start. */
export interface Asked {
  readonly mailboxId: string;
  /** The server, or a proxy in front of it. */
  readonly url: string;
  readonly options?: Options;
  readonly access?: { readonly key?: string };
  /** The names of a budget, an allowance and a pool. */
  readonly budget?: string;
  readonly allowance?: string;
  readonly pool?: string;
}

export type Counts = Readonly<
  Record<'received' | 'completed' | 'asked' | 'suspended' | 'returned' | 'failed' | 'lost', number>
>;

/** A worker that has started. */
export interface Started {
  /** Its counts, and the code of the refusal that has stopped it. */
  state(): Promise<{ readonly counts: Counts; readonly stopped: string | null }>;
  close(seconds?: number): Promise<void>;
}

/** Is told what the handler of a message has seen. */
export type See = (id: string, value: unknown) => void;

/** Starts and closes workers of one client. Their handlers follow the scripts in the payloads. */
export interface WorkerHost {
  start(asked: Asked, see?: See): Promise<Started>;
  stop(): Promise<void>;
}

/** The clients, each with its workers. */
export const hosts: Readonly<Record<string, (world: World) => Promise<WorkerHost>>> = {
  TypeScript: async (world) => ({
    start: async ({ mailboxId, url, options = {}, access, ...names }, see = () => undefined) => {
      const muster = createMuster({ url, key: world.apiKey, spaceId: world.spaceId, ...access });
      const { resultsTo, closeSeconds, ...others } = options;
      const runs = new Map<string, number>();
      const worker = new Worker<unknown, unknown>(
        muster,
        {
          ...others,
          mailbox: { mailboxId },
          closeOnSignals: false,
          ...(resultsTo !== undefined && { resultsTo: { mailboxId: resultsTo } }),
          ...(closeSeconds !== undefined && { closeSeconds: closeSeconds ?? Number.POSITIVE_INFINITY }),
        },
        (message, task) => {
          const run = (runs.get(message.id) ?? 0) + 1;
          runs.set(message.id, run);
          return follow(stepsOf(message.payload, run), { ...names, mailboxId, muster, message, task, see });
        },
      );
      worker.on('error', () => undefined);
      let stopped: string | null = null;
      worker.closed.catch(({ code }) => {
        stopped = code;
      });
      return { state: async () => ({ counts: worker.counts, stopped }), close: (seconds) => worker.close(seconds) };
    },
    stop: async () => undefined,
  }),
  Python: (world) => pythonHost(world, 'sync'),
  asyncio: (world) => pythonHost(world, 'async'),
};

/** The steps of a run of a message, the last ones for all later runs. A payload without them is returned. */
function stepsOf(payload: unknown, run: number): readonly Step[] {
  const { work } = (payload ?? {}) as { readonly work?: readonly (readonly Step[])[] };
  return work === undefined ? [{ return: payload }] : (work[Math.min(run, work.length) - 1] ?? []);
}

interface Line {
  readonly number: number;
  readonly id: string;
  readonly saw?: unknown;
  readonly closed?: true;
  readonly counts?: Counts;
  readonly stopped: string | null;
}

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
  const hear = new Map<number, (line: Line) => void>();
  createInterface(child.stdout).on('line', (text) => {
    const line = JSON.parse(text) as Line;
    hear.get(line.number)?.(line);
  });
  const ask = (fields: object): void => void child.stdin.write(`${JSON.stringify(fields)}\n`);
  let count = 0;
  return {
    start: async (asked, see) => {
      const number = count++;
      let end: () => void = () => undefined;
      const closed = new Promise<void>((resolve) => {
        end = resolve;
      });
      let told = (_: Line): void => undefined;
      hear.set(number, (line) => {
        if ('saw' in line) see?.(line.id, line.saw);
        if (line.counts) told(line);
        if (line.closed) end();
      });
      ask({ options: {}, access: {}, ...asked, do: 'start', number });
      return {
        state: () =>
          new Promise((resolve) => {
            told = ({ counts = {} as Counts, stopped }) => resolve({ counts, stopped });
            ask({ do: 'counts', number });
          }),
        close: (seconds) => {
          ask({ do: 'close', number, ...(seconds !== undefined && { seconds }) });
          return closed;
        },
      };
    },
    stop: async () => {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}
