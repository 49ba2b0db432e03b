import type { ChildProcess } from 'node:child_process';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const ends = new Set<() => void>();

/**
 * Calls `end` when this process ends by itself, by an uncaught error, or by a signal other than SIGKILL. The call is
 * synchronous, so it can do little more than send signals. If the process has its own listener for a signal, that listener
 * decides when to exit. Returns a function that undoes this.
 */
export function atExit(end: () => void): () => void {
  if (ends.size === 0) {
    process.on('exit', endAll);
    // Prepended, so that listeners added by `once` are still there.
    for (const signal of signals) process.prependListener(signal, onSignal);
  }
  ends.add(end);
  return () => {
    if (!ends.delete(end) || ends.size > 0) return;
    process.off('exit', endAll);
    for (const signal of signals) process.off(signal, onSignal);
  };
}

/** Sends the child the signal when this process ends, so that it is not left behind. */
export function endAtExit(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): void {
  child.once(
    'exit',
    atExit(() => child.kill(signal)),
  );
}

function endAll(): void {
  for (const end of ends) end();
}

function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  endAll();
  // Ends as if there had been no listener.
  process.off(signal, onSignal);
  process.kill(process.pid, signal);
}
