import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { isAlive, type ProcessIdentity } from './process-identity.ts';
import { connect, logTail } from './redis-process.ts';

/** Loading is usually too short to log. After this time it is logged periodically. */
const FIRST_LOADING_LINE_MS = 1_000;
const LOADING_LINE_MS = 5_000;

interface AwaitedServer {
  readonly socketPath: string;
  readonly dataDir: string;
  /** Receives the loading progress. */
  log(line: string): void;
  /** Stops waiting. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits until the server answers PING and has loaded its data, however long that takes.
 *
 * @param timeoutMs how long it may show no sign of life
 * @throws Error with the tail of the server's log when it exits or times out
 */
export async function whenReady(server: ProcessIdentity, awaited: AwaitedServer, timeoutMs: number): Promise<Redis> {
  const { signal } = awaited;
  const link: { last: Redis | null } = { last: null };
  // A loading server may leave commands unread for a long time.
  const giveUp = (): void => link.last?.disconnect();
  signal?.addEventListener('abort', giveUp);
  try {
    return await pollUntilReady(server, awaited, timeoutMs, link);
  } catch (error) {
    link.last?.disconnect();
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}

async function pollUntilReady(
  server: ProcessIdentity,
  { socketPath, dataDir, log, signal }: AwaitedServer,
  timeoutMs: number,
  link: { last: Redis | null },
): Promise<Redis> {
  let deadline = Date.now() + timeoutMs;
  let quietUntil = Date.now() + FIRST_LOADING_LINE_MS;
  for (;;) {
    const alive = isAlive(server);
    link.last ??= await connect(socketPath);
    // LOADING and BUSY are errors as well, but the server is alive.
    const answer = await link.last?.ping().catch((error: Error) => error.message);
    signal?.throwIfAborted();
    if (link.last && answer === 'PONG') return link.last;
    if (link.last && answer?.startsWith('LOADING')) {
      deadline = Date.now() + timeoutMs;
      if (Date.now() > quietUntil) {
        quietUntil = Date.now() + LOADING_LINE_MS;
        log(`the embedded redis-server is loading its data${await loaded(link.last)}`);
      }
    }
    if (link.last?.status !== 'ready') link.last = null;
    if (!alive || Date.now() > deadline) {
      const what = alive ? `did not answer within ${timeoutMs / 1000} s` : 'exited immediately';
      throw new Error(`the embedded redis-server ${what}: ${await logTail(dataDir)}`);
    }
    await sleep(10);
  }
}

/** A server's loading progress, to append to a sentence. */
export async function loaded(link: Redis): Promise<string> {
  const info = await link.info('persistence').catch(() => '');
  const percent = /^loading_loaded_perc:(\d+)/m.exec(info)?.[1];
  return percent === undefined ? '' : ` (${percent} %)`;
}
