const hourMs = 3_600_000;
/** Longer than the difference between any two zones and than any clock change. */
const wideMs = 26 * hourMs;

const form = {
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const;
const zoneName = /^[A-Za-z][\w+/-]{0,63}$/;
/** Creating a formatter takes some 30 KiB and 50 µs, so zones are cached. */
const known = new Map<string, Zone>();

/**
 * The clock of an IANA time zone. A wall time is given as the epoch milliseconds it would have in UTC, so wall times can be
 * compared and counted regardless of clock changes.
 */
export class Zone {
  readonly #format: Intl.DateTimeFormat | undefined;

  /** Undefined if there is no such zone. */
  static of(name: string): Zone | undefined {
    const key = name.toLowerCase();
    let zone = known.get(key);
    if (!zone) {
      if (!zoneName.test(name)) return undefined;
      try {
        zone = new Zone(name);
      } catch {
        return undefined;
      }
      known.set(key, zone);
    }
    return zone;
  }

  private constructor(name: string) {
    const format = new Intl.DateTimeFormat('en-US', { ...form, timeZone: name, hourCycle: 'h23', era: 'short' });
    if (format.resolvedOptions().timeZone !== 'UTC') this.#format = format;
  }

  /** The time on the clock at a moment. */
  wallAt(at: number): number {
    return at + this.#offset(at);
  }

  /** The latest wall time shown up to a moment. In a repeated hour, that is later than the current one. */
  furthestWall(at: number): number {
    const wall = this.wallAt(at);
    const before = this.#offset(at - wideMs);
    if (before <= this.#offset(at)) return wall;
    return Math.max(wall, this.#changeIn(at - wideMs, at) + before - 1);
  }

  /** The first moment at which the clock shows a wall time; the moment of the change if the change skips it. */
  momentOf(wall: number): number {
    const before = this.#offset(wall - wideMs);
    const after = this.#offset(wall + wideMs);
    for (const offset of [Math.max(before, after), Math.min(before, after)])
      if (this.#offset(wall - offset) === offset) return wall - offset;
    return this.#changeIn(wall - wideMs, wall + wideMs);
  }

  /** How far the clock is ahead of UTC at a moment, in milliseconds. */
  offsetAt(at: number): number {
    return this.#offset(at);
  }

  /**
   * The clock changes after one moment, up to another: the first moment of the new time, and how far the clock is ahead of
   * UTC before and after it.
   */
  *changes(
    from: number,
    to: number,
  ): Generator<{ readonly at: number; readonly before: number; readonly after: number }> {
    if (!this.#format) return;
    for (let start = from; start < to; start += 24 * hourMs) {
      const end = Math.min(to, start + 24 * hourMs);
      const [before, after] = [this.#offset(start), this.#offset(end)];
      if (before !== after) yield { at: this.#changeIn(start, end), before, after };
    }
  }

  /** The moment of the clock change between two moments with different offsets. */
  #changeIn(from: number, to: number): number {
    const after = this.#offset(to);
    let [before, at] = [from, to];
    while (at - before > 1) {
      const middle = Math.floor((before + at) / 2);
      if (this.#offset(middle) === after) at = middle;
      else before = middle;
    }
    return at;
  }

  /** How far the clock is ahead of UTC, in milliseconds. */
  #offset(at: number): number {
    if (!this.#format) return 0;
    const shown: Record<string, string> = {};
    for (const { type, value } of this.#format.formatToParts(at)) shown[type] = value;
    const [year = 0, month = 0, day, hour, minute, second] = Object.keys(form).map((part) => Number(shown[part]));
    const date = new Date(Date.UTC(2000, month - 1, day, hour, minute, second));
    date.setUTCFullYear(shown['era'] === 'BC' ? 1 - year : year, month - 1, day);
    return date.getTime() - Math.floor(at / 1000) * 1000;
  }
}
