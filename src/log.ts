import pino, { type Logger } from 'pino';

/** A write to the system for so many characters, not one for each line … */
const flushLength = 8_192;
/** … but none waits longer. */
const flushMs = 50;

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
 * Gathers lines and joins them once. (The destination's own `minLength` measures all it has gathered again with each
 * further line.)
 */
class Lines {
  readonly #destination = pino.destination({ fd: 2, sync: false });
  #lines: string[] = [];
  #length = 0;
  #isTimed = false;

  write(line: string): void {
    this.#lines.push(line);
    this.#length += line.length;
    if (this.#length >= flushLength) this.flush();
    else if (!this.#isTimed) {
      this.#isTimed = true;
      setTimeout(() => {
        this.#isTimed = false;
        this.flush();
      }, flushMs).unref();
    }
  }

  flush(): void {
    if (this.#length === 0) return;
    this.#destination.write(this.#lines.join(''));
    this.#lines = [];
    this.#length = 0;
  }

  flushSync(): void {
    this.flush();
    this.#destination.flushSync();
  }
}

/** The log: one JSON line each, to stderr; what is left is written when the process ends. */
export function openLog(level: string): Logger {
  const lines = new Lines();
  process.once('exit', () => lines.flushSync());
  return pino({ level, base: null, timestamp: millisecondClock() }, lines);
}
