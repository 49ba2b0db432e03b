import { follow } from './send.ts';

/** What is being given back, and calls that nobody waits for any more. */
const underWay = new Set<Promise<unknown>>();

/** Gives something back in the background. If that fails, it ends by itself: with its lease, or with its time to live. */
export function giveBack(work: () => Promise<unknown>): void {
  const done = work()
    .catch(() => undefined)
    .finally(() => underWay.delete(done));
  underWay.add(done);
}

/** Resolves to whether anything was under way, once it has been given back. */
export async function givenBack(): Promise<boolean> {
  const all = [...underWay];
  await Promise.all(all);
  return all.length > 0;
}

/**
 * Takes something for a caller who may leave: an acquire, a place in line, a reservation, a claim. When the signal aborts,
 * this rejects at once with its reason. The call itself is not cut, as the server may have made it already: it goes on in
 * the background, and what it takes is given back.
 */
export async function takeFor<T>(
  signal: AbortSignal | undefined,
  take: () => Promise<T>,
  undo: (taken: T) => Promise<unknown>,
): Promise<T> {
  signal?.throwIfAborted();
  const taking = take();
  let stay = (): void => undefined;
  const left = new Promise<never>((_, reject) => {
    stay = follow(signal, () => reject(signal?.reason));
  });
  try {
    const taken = await Promise.race([taking, left]);
    signal?.throwIfAborted();
    return taken;
  } catch (error) {
    if (signal?.aborted) giveBack(() => taking.then(undo));
    throw error;
  } finally {
    stay();
  }
}
