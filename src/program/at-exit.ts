import type { ChildProcess } from 'node:child_process';

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const ends = new Set<() => void>();

/**
 * Calls `end` when this process ends by itself, by an error that nobody catches, or by a signal, but for SIGKILL. It is called
 * synchronously, so it can only send signals and the like. A process that listens to a signal itself also decides when to
 * exit then. Returns what takes it back.
 */
export function atExit(end: () => void): () => void {
  if (ends.size === 0) {
    process.on('exit', endAll);
    // First, to see those that listen once.
    for (const signal of signals) process.prependListener(signal, onSignal);
  }
  ends.add(end);
  return () => {
    if (!ends.delete(end) || ends.size > 0) return;
    process.off('exit', endAll);
    for (const signal of signals) process.off(signal, onSignal);
  };
}

/** Leaves no child behind: it is sent the signal when this process ends. */
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
  // As if nobody had listened.
  process.off(signal, onSignal);
  process.kill(process.pid, signal);
}
