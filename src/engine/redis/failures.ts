import { canFailPartially, type Store } from './cluster.ts';
import { Refusal, StoreUnavailable } from './scripts.ts';

/** For `catch`: turns a refusal with this code into null, and rethrows everything else. */
export function unless(code: string) {
  return (error: unknown): null => {
    if (error instanceof Refusal && error.code === code) return null;
    throw error;
  };
}

/** Makes a plain command fail as scripts do: with StoreUnavailable. */
export function orUnavailable<T>(reply: Promise<T>): Promise<T> {
  return reply.catch((error: Error) => {
    throw new StoreUnavailable(error.message);
  });
}

/** Rejects if a reply takes too long: a hung server counts as down. */
export async function within<T>(ms: number, reply: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no reply within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([reply, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** With several shards, falls back to `instead` when the reply fails or takes longer than `ms`. */
export function unlessAway<T>(store: Store, ms: number, reply: Promise<T>, instead: (error: Error) => T | Promise<T>) {
  return canFailPartially(store) ? within(ms, reply).catch(instead) : reply;
}

/** ioredis' message, followed by the last Sentinel's error if there was one. */
const noMaster = /^All sentinels are unreachable.*?(?:Last error: (.*))?$/s;

/** The first sentence of a store's error, without script positions, advice and ioredis' own terms. */
export function inShort(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const [isOfSentinels, last] = noMaster.exec(message) ?? [];
  if (isOfSentinels) return `no Sentinel knows the master: ${last ?? 'is its name right?'}`;
  const [first = ''] = message.split(/ script: |, with args|\.(?: |$)|\n/, 1);
  return new StoreUnavailable(first.slice(0, 200)).message;
}
