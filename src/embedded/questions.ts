import type { Redis } from 'ioredis';
import { identify, type ProcessIdentity } from './process-identity.ts';
import { logTail } from './redis-process.ts';

/** Where it ends or hangs instead of an answer, its log tells more than the client does. */
export function asked<T>(dataDir: string, answer: Promise<T>): Promise<T> {
  return answer.catch(async ({ message }: Error) => {
    throw new Error(`the embedded redis-server gives no answer (${message}): ${await logTail(dataDir)}`);
  });
}

/** The process behind a connection: also right for a server that was started through a script of the user's. */
export async function serverOf(link: Redis): Promise<ProcessIdentity> {
  const pid = Number(/process_id:(\d+)/.exec(await link.info('server'))?.[1]);
  return identify(pid) ?? `${pid}-ended`;
}

interface Seen {
  readonly server: ProcessIdentity;
  /** On a full disk it ends in order without what it could not write. */
  readonly isWritten: boolean;
}

/** What is to be known of a server before it is stopped; null when it ends by itself in this moment. */
export async function seen(dataDir: string, link: Redis): Promise<Seen | null> {
  try {
    const server = await serverOf(link);
    return { server, isWritten: (await link.info('persistence')).includes('aof_last_write_status:ok') };
  } catch (error) {
    if (link.status === 'end') return null;
    return asked(dataDir, Promise.reject(error));
  }
}
