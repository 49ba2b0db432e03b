import { type CronExpression, CronExpressionParser } from 'cron-parser';
import type { Zone } from './zone.ts';

const dayMs = 86_400_000;
const maxCharacters = 256;
/** Parsing takes half a millisecond, so expressions are cached. */
const maxKnown = 1000;
const known = new Map<string, Cron>();
/** The days of the months in a leap year. */
const daysIn = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * A cron expression. It is evaluated over wall times in UTC, which has no clock changes. The zone then says when its clock
 * shows them. So a wall time that occurs twice is one moment, the first, and all wall times that a change skips are one
 * moment, right after the gap.
 */
export class Cron {
  readonly #expression: CronExpression;
  /** The times of a day, in seconds from midnight, are all sums of one value from each list. */
  readonly #hours: readonly number[];
  readonly #minutes: readonly number[];
  readonly #seconds: readonly number[];

  /** Undefined unless it has five or six fields and matches at least one moment. */
  static of(text: string): Cron | undefined {
    const parsed = known.get(text);
    if (parsed) return parsed;
    const fields = text.trim().split(/\s+/);
    // The parser takes H for a random value, different each time.
    const isRandom = text.replace(/thu/gi, '').includes('H');
    if (text.length > maxCharacters || fields.length < 5 || fields.length > 6 || isRandom) return undefined;
    try {
      const cron = new Cron(CronExpressionParser.parse(text, { tz: 'UTC' }));
      if (!cron.#comes()) return undefined;
      if (known.size >= maxKnown) known.clear();
      known.set(text, cron);
      return cron;
    } catch {
      return undefined;
    }
  }

  private constructor(expression: CronExpression) {
    this.#expression = expression;
    const { hour, minute, second } = expression.fields;
    const inSeconds = (values: readonly unknown[], unit: number) => values.map((value) => Number(value) * unit);
    this.#hours = inSeconds(hour.values, 3600);
    this.#minutes = inSeconds(minute.values, 60);
    this.#seconds = inSeconds(second.values, 1);
  }

  /** The first moment after another. */
  next(zone: Zone, after: number): number {
    for (let wall = zone.furthestWall(after); ; ) {
      wall = this.#from(wall).next().getTime();
      const at = zone.momentOf(wall);
      if (at > after) return at;
    }
  }

  /** The last moment up to another. */
  last(zone: Zone, through: number): number {
    return zone.momentOf(
      this.#from(zone.furthestWall(through) + 1)
        .prev()
        .getTime(),
    );
  }

  /** How many moments there are between two moments, both included. */
  count(zone: Zone, from: number, through: number): number {
    const last = zone.furthestWall(through);
    const first = zone.furthestWall(from - 1);
    let found = this.#walls(first, last);
    for (const gap of zone.gaps(from - 1, through)) {
      const skipped = this.#walls(gap.from - 1, gap.to - 1);
      // All skipped wall times are one moment, the same as a wall time right after the gap.
      const isOther = this.#walls(gap.to - 1, gap.to) === 0;
      if (skipped > 0) found -= isOther ? skipped - 1 : skipped;
    }
    return found;
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
