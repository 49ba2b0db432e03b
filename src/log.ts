import { write, writeSync } from 'node:fs';
import pino, { type Logger } from 'pino';

const stderr = 2;

/** A write to the system for so many characters, not one for each line … */
const flushLength = 8_192;
/** … but none waits longer. */
const flushMs = 50;
/** Characters kept for a reader that is stuck. */
const mostLength = 4_194_304;

/** Many lines of one millisecond have the same time: a date is made of it once. */
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
 * Gathers lines and writes them together. Whoever reads them may be gone, stuck or have no room: lines are lost then, and
 * nothing else is.
 */
class Lines {
  #lines: string[] = [];
  #length = 0;
  #isTimed = false;
  #isWriting = false;

  write(line: string): void {
    if (this.#length > mostLength) return;
    this.#lines.push(line);
    this.#length += line.length;
    this.#flushInTime();
  }

  flush(): void {
    if (this.#length === 0 || this.#isWriting) return;
    this.#isWriting = true;
    this.#put(this.#take());
  }

  /** What is left, at the end of the process. */
  flushSync(): void {
    try {
      writeSync(stderr, this.#take());
    } catch {
      // See above.
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

/** The log: one JSON line each, to stderr; what is left is written when the process ends. */
export function openLog(level: string): Logger {
  const lines = new Lines();
  process.once('exit', () => lines.flushSync());
  return pino({ level, base: null, timestamp: millisecondClock() }, lines);
}
