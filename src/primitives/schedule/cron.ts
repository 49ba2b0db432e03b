import { type CronExpression, CronExpressionParser } from 'cron-parser';
import { CronMistake, readCron } from './cron-fields.ts';
import type { Zone } from './zone.ts';

const dayMs = 86_400_000;
/** How far `next` and `last` look for clock changes at a time: longer than a clock change, shorter than between two. */
const spanMs = 4 * dayMs;
const maxCharacters = 256;
/** Parsing takes half a millisecond, so expressions are cached. */
const maxKnown = 1000;
const known = new Map<string, Cron>();
/** The days of the months in a leap year. */
const daysIn = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const neverComes = 'must be an expression that comes at some time: none of its months has one of its days';

/** Throws CronMistake for what only the parser finds: a day of the month that its one month does not have. */
function parsed(fields: string): CronExpression {
  try {
    return CronExpressionParser.parse(fields, { tz: 'UTC' });
  } catch (error) {
    const { message } = error as Error;
    throw new CronMistake(/day of month/.test(message) ? neverComes : `must be a cron expression: ${message}`);
  }
}

/**
 * A cron expression. It is evaluated over wall times in UTC, which has no clock changes. The zone then says when its clock
 * shows them. All wall times that a change skips are one moment, right after the gap. A wall time that occurs twice is two
 * moments if the expression is one for many hours or minutes, as `0 * * * *` is; otherwise it is one, the first.
 */
export class Cron {
  readonly #expression: CronExpression;
  readonly #isRepeated: boolean;
  /** The times of a day, in seconds from midnight, are all sums of one value from each list. */
  readonly #hours: readonly number[];
  readonly #minutes: readonly number[];
  readonly #seconds: readonly number[];

  /** Takes what any version has accepted. Throws CronMistake. */
  static of(text: string): Cron {
    const kept = known.get(text);
    if (kept) return kept;
    if (text.length > maxCharacters) throw new CronMistake(`must have at most ${maxCharacters} characters`);
    if (/\p{Cc}/u.test(text)) throw new CronMistake('must have no control characters');
    const { text: fields, isRepeated } = readCron(text, true);
    const cron = new Cron(parsed(fields), isRepeated);
    if (!cron.#comes()) throw new CronMistake(neverComes);
    if (known.size >= maxKnown) known.clear();
    known.set(text, cron);
    return cron;
  }

  /** The message of the mistake in a new expression; undefined if there is none. */
  static mistakeIn(text: string): string | undefined {
    try {
      Cron.of(text);
      readCron(text);
      return undefined;
    } catch (error) {
      if (error instanceof CronMistake) return error.message;
      throw error;
    }
  }

  private constructor(expression: CronExpression, isRepeated: boolean) {
    this.#expression = expression;
    this.#isRepeated = isRepeated;
    const { hour, minute, second } = expression.fields;
    const inSeconds = (values: readonly unknown[], unit: number) => values.map((value) => Number(value) * unit);
    this.#hours = inSeconds(hour.values, 3600);
    this.#minutes = inSeconds(minute.values, 60);
    this.#seconds = inSeconds(second.values, 1);
  }

  /** The first moment after another. */
  next(zone: Zone, after: number): number {
    if (this.#isRepeated) return this.#nextOfAll(zone, after);
    for (let wall = zone.furthestWall(after); ; ) {
      wall = this.#from(wall).next().getTime();
      const at = zone.momentOf(wall);
      if (at > after) return at;
    }
  }

  /** The last moment up to another. */
  last(zone: Zone, through: number): number {
    if (this.#isRepeated) return this.#lastOfAll(zone, through);
    return zone.momentOf(
      this.#from(zone.furthestWall(through) + 1)
        .prev()
        .getTime(),
    );
  }

  /** How many moments there are between two moments, both included. */
  count(zone: Zone, from: number, through: number): number {
    if (this.#isRepeated) return this.#countOfAll(zone, from - 1, through);
    const last = zone.furthestWall(through);
    const first = zone.furthestWall(from - 1);
    let found = this.#walls(first, last);
    for (const { at, before, after } of zone.changes(from - 1, through)) {
      if (after < before) continue;
      const skipped = this.#walls(at + before - 1, at + after - 1);
      // All skipped wall times are one moment, the same as a wall time right after the gap.
      const isOther = this.#walls(at + after - 1, at + after) === 0;
      if (skipped > 0) found -= isOther ? skipped - 1 : skipped;
    }
    return found;
  }

  /** The first moment after another, where every pass of a repeated hour counts. */
  #nextOfAll(zone: Zone, after: number): number {
    let [from, offset, looked] = [after, zone.offsetAt(after), after];
    for (;;) {
      const wall = this.#from(from + offset)
        .next()
        .getTime();
      const at = wall - offset;
      const [change] = zone.changes(looked, Math.min(at, looked + spanMs));
      if (change) {
        // One of the skipped wall times is the next.
        if (wall < change.at + change.after) return change.at;
        [from, offset, looked] = [change.at - 1, change.after, change.at];
      } else if (at <= looked + spanMs) {
        return at;
      } else {
        // Until shortly before it no wall time matches, whichever changes there are.
        from = looked = Math.max(looked + spanMs, at - spanMs);
        offset = zone.offsetAt(from);
      }
    }
  }

  /** The last moment up to another, likewise. */
  #lastOfAll(zone: Zone, through: number): number {
    for (let to = through; ; ) {
      const offset = zone.offsetAt(to);
      const wall = this.#from(to + offset + 1)
        .prev()
        .getTime();
      const at = wall - offset;
      const change = [...zone.changes(Math.max(at, to - spanMs), to)].at(-1);
      if (change) {
        if (this.#walls(change.at + change.before - 1, change.at + change.after - 1) > 0) return change.at;
        to = change.at - 1;
      } else if (at >= to - spanMs) {
        return at;
      } else {
        to = Math.min(to - spanMs, at + spanMs);
      }
    }
  }

  /** How many moments there are after one moment, up to another, likewise. */
  #countOfAll(zone: Zone, after: number, through: number): number {
    let found = 0;
    let from = after;
    let offset = zone.offsetAt(from);
    for (const change of zone.changes(after, through)) {
      found += this.#walls(from + offset, change.at - 1 + offset);
      const skipped = this.#walls(change.at + change.before - 1, change.at + change.after - 1);
      const isOther = this.#walls(change.at + change.after - 1, change.at + change.after) === 0;
      if (skipped > 0 && isOther) found++;
      from = change.at - 1;
      offset = change.after;
    }
    return found + this.#walls(from + offset, through + offset);
  }

  #from(wall: number): CronExpression {
    this.#expression.reset(new Date(wall));
    return this.#expression;
  }

  /** Whether any of its months has one of its days. The parser checks that only for a single month. */
  #comes(): boolean {
    const { dayOfMonth, dayOfWeek, month } = this.#expression.fields;
    if (!dayOfWeek.isWildcard || dayOfMonth.hasLastChar) return true;
    const first = Math.min(...dayOfMonth.values.map(Number));
    return month.values.some((one) => first <= (daysIn[Number(one) - 1] ?? 0));
  }

  /** How many of its wall times are after `after`, up to `through`. */
  #walls(after: number, through: number): number {
    const startOf = (wall: number): number => Math.floor(wall / dayMs) * dayMs;
    let found = 0;
    for (let day = startOf(after); day <= through; day += dayMs) {
      if (!this.#isOn(day)) continue;
      found += this.#times(Math.floor((through - day) / 1000)) - this.#times(Math.floor((after - day) / 1000));
    }
    return found;
  }

  #isOn(day: number): boolean {
    const first = (this.#hours[0] ?? 0) + (this.#minutes[0] ?? 0) + (this.#seconds[0] ?? 0);
    return this.#expression.includesDate(new Date(day + first * 1000));
  }

  /** How many of a day's times are at most this many seconds from midnight. */
  #times(through: number): number {
    const minutes = this.#minutes.length * this.#seconds.length;
    const upTo = (values: readonly number[], rest: number, each: number, below: (rest: number) => number): number => {
      const begun = values.filter((value) => value <= rest);
      const last = begun.at(-1);
      return last === undefined ? 0 : (begun.length - 1) * each + below(rest - last);
    };
    const ofMinute = (rest: number): number => this.#seconds.filter((second) => second <= rest).length;
    const ofHour = (rest: number): number => upTo(this.#minutes, rest, this.#seconds.length, ofMinute);
    return upTo(this.#hours, through, minutes, ofHour);
  }
}
