import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { isAlive, type ProcessIdentity } from './process-identity.ts';
import { connect, logTail } from './redis-process.ts';

/** Not for a short one, as most are; then now and then. */
const FIRST_LOADING_LINE_MS = 1_000;
const LOADING_LINE_MS = 5_000;

interface Awaited {
  readonly socketPath: string;
  readonly dataDir: string;
  /** Told now and then how far it has loaded. */
  log(line: string): void;
  /** Gives up. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Waits until the server answers PING and has loaded its data, however long it loads.
 *
 * @param patienceMs how long it may give no sign of life
 * @throws Error with the end of the server's log when it dies or the patience ends
 */
export async function whenReady(server: ProcessIdentity, awaited: Awaited, patienceMs: number): Promise<Redis> {
  const { signal } = awaited;
  const link: { last: Redis | null } = { last: null };
  // It may not look at what it is asked for as long as it loads.
  const giveUp = (): void => link.last?.disconnect();
  signal?.addEventListener('abort', giveUp);
  try {
    return await answering(server, awaited, patienceMs, link);
  } catch (error) {
    link.last?.disconnect();
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}

async function answering(
  server: ProcessIdentity,
  { socketPath, dataDir, log, signal }: Awaited,
  patienceMs: number,
  link: { last: Redis | null },
): Promise<Redis> {
  let until = Date.now() + patienceMs;
  let quietUntil = Date.now() + FIRST_LOADING_LINE_MS;
  for (;;) {
    const alive = isAlive(server);
    link.last ??= await connect(socketPath);
    // LOADING and BUSY are refusals too: it lives and will answer.
    const answer = await link.last?.ping().catch((error: Error) => error.message);
    signal?.throwIfAborted();
    if (link.last && answer === 'PONG') return link.last;
    if (link.last && answer?.startsWith('LOADING')) {
      until = Date.now() + patienceMs;
      if (Date.now() > quietUntil) {
        quietUntil = Date.now() + LOADING_LINE_MS;
        log(`the embedded redis-server is loading its data${await loaded(link.last)}`);
      }
    }
    if (link.last?.status !== 'ready') link.last = null;
    if (!alive || Date.now() > until) {
      const what = alive ? `does not answer after ${patienceMs / 1000} s` : 'ended at once';
      throw new Error(`the embedded redis-server ${what}: ${await logTail(dataDir)}`);
    }
    await sleep(10);
  }
}

/** How far a server has loaded, as it ends a sentence. */
export async function loaded(link: Redis): Promise<string> {
  const info = await link.info('persistence').catch(() => '');
  const percent = /^loading_loaded_perc:(\d+)/m.exec(info)?.[1];
  return percent === undefined ? '' : ` (${percent} %)`;
}
