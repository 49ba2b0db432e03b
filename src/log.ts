import { write, writeSync } from 'node:fs';
import pino, { type Logger } from 'pino';

const stderr = 2;

/** Lines are written together once there are this many characters, as each write wakes another thread … */
const flushLength = 65_536;
/** … or after this time. */
const flushMs = 50;
/** Characters to buffer for a stuck reader. */
const maxLength = 4_194_304;

/** Formats the time once per millisecond, for all lines in it. */
function millisecondClock(): () => string {
  let last = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== last) {
      last = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

/**
 * Buffers lines and writes them together. If the reader is gone, stuck or out of space, it drops lines and does nothing else;
 * pino's own destination would retry forever at exit on a full disk.
 */
class Lines {
  #lines: string[] = [];
  #length = 0;
  #isTimed = false;
  #isWriting = false;

  write(line: string): void {
    if (this.#length > maxLength) return;
    this.#lines.push(line);
    this.#length += line.length;
    this.#flushInTime();
  }

  flush(): void {
    if (this.#length === 0 || this.#isWriting) return;
    this.#isWriting = true;
    this.#put(this.#take());
  }

  /** Writes the remaining lines when the process exits. */
  flushSync(): void {
    try {
      writeSync(stderr, this.#take());
    } catch {
      // Dropped, as above.
    }
  }

  #take(): Buffer {
    const bytes = Buffer.from(this.#lines.join(''));
    this.#lines = [];
    this.#length = 0;
    return bytes;
  }

  #put(bytes: Buffer): void {
    write(stderr, bytes, (error, written) => {
      if (error?.code === 'EAGAIN') setTimeout(() => this.#put(bytes), flushMs).unref();
      else if (!error && written < bytes.length) this.#put(bytes.subarray(written));
      else {
        this.#isWriting = false;
        if (this.#length > 0) this.#flushInTime();
      }
    });
  }

  #flushInTime(): void {
    if (this.#length >= flushLength) this.flush();
    else if (!this.#isTimed) {
      this.#isTimed = true;
      setTimeout(() => {
        this.#isTimed = false;
        this.flush();
      }, flushMs).unref();
    }
  }
}

interface Inside {
  readonly [pino.symbols.chindingsSym]: string;
  readonly [pino.symbols.timeSym]: () => string;
  readonly [pino.symbols.streamSym]: { write(line: string): void };
}

export type LineLevel = 'debug' | 'info' | 'error';

/** Logs members that are JSON already, `,"status":200,"calls":3`. pino would process each of their characters again. */
export function logText(log: Logger, level: LineLevel, members: string): void {
  if (!log.isLevelEnabled(level)) return;
  const inside = log as unknown as Inside;
  const start = `{"level":${log.levels.values[level]}${inside[pino.symbols.timeSym]()}`;
  inside[pino.symbols.streamSym].write(`${start}${inside[pino.symbols.chindingsSym]}${members}}\n`);
}

/** A logger that writes JSON lines to stderr, and flushes them when the process exits. */
export function openLog(level: string): Logger {
  const lines = new Lines();
  process.once('exit', () => lines.flushSync());
  return pino({ level, base: null, timestamp: millisecondClock() }, lines);
}
