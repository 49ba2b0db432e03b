/** The part of Node's `process` used here; other runtimes may lack it. */
interface Process {
  on(signal: string, listener: () => void): void;
  once(event: string, listener: () => void): void;
  off(signal: string, listener: () => void): void;
  listenerCount(signal: string): number;
  kill(pid: number, signal: string): void;
  readonly pid: number;
}

const { process } = globalThis as { process?: Partial<Process> };
const isNode = process?.on !== undefined && process.kill !== undefined;

/** Functions that close workers, called at a signal. */
const closing = new Set<() => Promise<unknown>>();
/** Functions that end holds, called after that if the signal is going to end the process. */
const ending = new Set<(reason: Error) => Promise<unknown>>();
let isListening = false;
let isEnding = false;
const names = ['SIGTERM', 'SIGINT'] as const;
/** How long a program with more to do may run after its workers have closed. */
const lastWorkMs = 5_000;
const listeners = new Map(names.map((name) => [name, () => void end(name)]));

/** Until the returned function is called, closes a worker at a signal before the signal ends the process. */
export function closeOnSignals(close: () => Promise<unknown>): () => void {
  return listening(closing, close);
}

/**
 * Until the returned function is called, ends a hold at a signal before the signal ends the process. If the program has a
 * listener of its own, the signal does not end the process, and the hold is the program's.
 */
export function endOnSignals(end: (reason: Error) => Promise<unknown>): () => void {
  return listening(ending, end);
}

/** Whether a signal is ending the process. */
export const isProcessEnding = (): boolean => isEnding;

function listening<T>(all: Set<T>, one: T): () => void {
  if (!isNode) return () => undefined;
  all.add(one);
  if (!isListening) for (const [name, listener] of listeners) process?.on?.(name, listener);
  isListening = true;
  return () => {
    all.delete(one);
    if (closing.size === 0 && ending.size === 0) leave();
  };
}

function leave(): void {
  for (const [name, listener] of listeners) process?.off?.(name, listener);
  isListening = false;
}

/**
 * Closes all workers. Then the signal takes its usual effect once the program has nothing left to do, such as work
 * after `await worker.closed`, or after `lastWorkMs`; if there were no workers, once all holds have ended. A second
 * signal takes effect at once.
 */
async function end(name: string): Promise<void> {
  const all = [...closing];
  if (all.length === 0 && process?.listenerCount?.(name) !== 1) return;
  closing.clear();
  leave();
  await Promise.allSettled(all.map((close) => close()));
  if (process?.listenerCount?.(name) !== 0) return;
  isEnding = true;
  const kill = () => process?.kill?.(process.pid ?? 0, name);
  process.once?.('beforeExit', kill);
  const timer = setTimeout(kill, lastWorkMs) as { unref?(): void };
  const reason = new Error(`the process is ending: ${name}`);
  await Promise.allSettled([...ending].map((one) => one(reason)));
  if (all.length === 0) kill();
  else timer.unref?.();
}

/** The default name of a worker: the host name and the process id, as far as they are known. */
export function defaultHolder(): string {
  const { process } = globalThis as {
    process?: { readonly pid?: number; getBuiltinModule?(name: string): { hostname(): string } };
  };
  const host = process?.getBuiltinModule?.('node:os').hostname() ?? 'worker';
  return `${host.slice(0, 200)}/${process?.pid ?? crypto.randomUUID().slice(0, 8)}`;
}
