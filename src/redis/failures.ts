import { canFailPartially, type Store } from './cluster.ts';
import { Refusal, StoreUnavailable } from './scripts.ts';

/** For `catch`: one refusal is the answer null, everything else stays an error. */
export function unless(code: string) {
  return (error: unknown): null => {
    if (error instanceof Refusal && error.code === code) return null;
    throw error;
  };
}

/** A command outside the scripts fails as they do: with StoreUnavailable. */
export function orUnavailable<T>(reply: Promise<T>): Promise<T> {
  return reply.catch((error: Error) => {
    throw new StoreUnavailable(error.message);
  });
}

/** Rejects when a reply takes too long: a server that hangs counts as one that is away. */
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

/** A reply, or `instead` where it fails or takes longer than `ms` while other shards may still answer. */
export function unlessAway<T>(store: Store, ms: number, reply: Promise<T>, instead: (error: Error) => T | Promise<T>) {
  return canFailPartially(store) ? within(ms, reply).catch(instead) : reply;
}

/** The client's words, and behind them what the last of the Sentinels said, if that was an error. */
const noMaster = /^All sentinels are unreachable.*?(?:Last error: (.*))?$/s;

/** What a store said: its first sentence, without where in a script, advice and the client's words for its options. */
export function inShort(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  const [isOfSentinels, last] = noMaster.exec(said) ?? [];
  if (isOfSentinels) return `no Sentinel names a master: ${last ?? 'is its name right?'}`;
  const [first = ''] = said.split(/ script: |, with args|\.(?: |$)|\n/, 1);
  return new StoreUnavailable(first.slice(0, 200)).message;
}
