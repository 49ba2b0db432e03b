import { type CronExpression, CronExpressionParser } from 'cron-parser';
import type { Zone } from './zone.ts';

const dayMs = 86_400_000;
const maxCharacters = 256;
/** Parsing takes half a millisecond. */
const maxKnown = 1000;
const known = new Map<string, Cron>();
/** February as it is in a leap year. */
const daysIn = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * A cron expression. It is evaluated over wall times as in UTC, where no clock change meets it; a zone then says when its
 * clock shows them. So a wall time that comes twice is one moment, the first, and all those that a change skips are one,
 * right after the gap.
 */
export class Cron {
  readonly #expression: CronExpression;
  /** The times of a day, in seconds from midnight: each a sum of one of each. */
  readonly #hours: readonly number[];
  readonly #minutes: readonly number[];
  readonly #seconds: readonly number[];

  /** undefined where it is not five or six fields, or never comes. */
  static of(text: string): Cron | undefined {
    const parsed = known.get(text);
    if (parsed) return parsed;
    const fields = text.trim().split(/\s+/);
    // To the parser H is a random value, another one each time.
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

  /** The first of its moments after a moment. */
  next(zone: Zone, after: number): number {
    for (let wall = zone.furthestWall(after); ; ) {
      wall = this.#from(wall).next().getTime();
      const at = zone.momentOf(wall);
      if (at > after) return at;
    }
  }

  /** The last of its moments up to a moment. */
  last(zone: Zone, through: number): number {
    return zone.momentOf(
      this.#from(zone.furthestWall(through) + 1)
        .prev()
        .getTime(),
    );
  }

  /** How many of its moments lie between two moments, both included. */
  count(zone: Zone, from: number, through: number): number {
    const last = zone.furthestWall(through);
    const first = zone.furthestWall(from - 1);
    let found = this.#walls(first, last);
    for (const gap of zone.gaps(from - 1, through)) {
      const skipped = this.#walls(gap.from - 1, gap.to - 1);
      // They are one moment, the one of the first wall time behind the gap.
      const isOther = this.#walls(gap.to - 1, gap.to) === 0;
      if (skipped > 0) found -= isOther ? skipped - 1 : skipped;
    }
    return found;
  }

  #from(wall: number): CronExpression {
    this.#expression.reset(new Date(wall));
    return this.#expression;
  }

  /** Whether any month has one of its days: the parser only sees to that where there is a single month. */
  #comes(): boolean {
    const { dayOfMonth, dayOfWeek, month } = this.#expression.fields;
    if (!dayOfWeek.isWildcard || dayOfMonth.hasLastChar) return true;
    const first = Math.min(...dayOfMonth.values.map(Number));
    return month.values.some((one) => first <= (daysIn[Number(one) - 1] ?? 0));
  }

  /** How many of its wall times are later than one, up to another. */
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

  /** How many of a day's times come up to so many seconds from midnight. */
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
