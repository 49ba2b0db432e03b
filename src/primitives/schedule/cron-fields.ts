/** A field of a cron expression. */
interface Rule {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const days = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const second: Rule = { name: 'second', min: 0, max: 59 };
const rules: readonly Rule[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: months },
  // 7 is Sunday, too.
  { name: 'day of the week', min: 0, max: 7, names: days },
];
const [minute, hour, dayOfMonth, month, dayOfWeek] = rules as [Rule, Rule, Rule, Rule, Rule];
/** `*`, `?`, a value or a range, each with a step or without. */
const partForm = /^(?:([*?])|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/;
/** The nth of a day of the week in its month. */
const nthForm = new RegExp(`^(?:[0-7]|${days.join('|')})#[1-5]$`, 'i');

/** What an expression must be or have instead, as the end of a sentence that begins with its name. */
export class CronMistake extends Error {}

/** An expression in six fields, each a list of numbers without repetitions, `*`, or with `L` or `#`. */
export interface CronFields {
  readonly text: string;
  /** Whether it fires in both passes of an hour that a clock change repeats. */
  readonly isRepeated: boolean;
}

/**
 * Reads an expression. isStored: an earlier version has accepted it, so what only that one took is no mistake.
 *
 * @throws CronMistake
 */
export function readCron(text: string, isStored = false): CronFields {
  const given = text.trim().split(/\s+/);
  if (text.trim() === '' || given.length < 5 || given.length > 6)
    throw new CronMistake(
      `must have five fields, or six with seconds first, like 0 9 * * 1-5: it has ${text.trim() === '' ? 0 : given.length}`,
    );
  const all = given.length === 6 ? [second, ...rules] : rules;
  const texts = all.map((rule, at) => listOf(given[at] ?? '', rule, isStored));
  const textOf = (rule: Rule, list: readonly string[]): string => list[all.indexOf(rule)] ?? '';
  const isMany = /[*?/-]/.test(textOf(minute, given) + textOf(hour, given));
  const isRepeated = isMany || textOf(hour, texts).includes(',');
  if (given.length === 5) texts.unshift('0');
  return { text: texts.join(' '), isRepeated };
}

/** The field as a list of all its numbers, ascending, with parts that have `L` or `#` behind them. */
function listOf(text: string, rule: Rule, isStored: boolean): string {
  if (text === '*' || text === '?') return text;
  const numbers = new Set<number>();
  const others: string[] = [];
  for (const part of text.split(',')) {
    if (isOfCalendar(part, rule, isStored)) others.push(part);
    else for (const one of numbersOf(part, rule)) numbers.add(rule === dayOfWeek ? one % 7 : one);
  }
  const nth = others.find((one) => one.includes('#'));
  if (nth !== undefined && text !== nth) throw mistake(text, rule, 'a day with # alone');
  return [...[...numbers].sort((a, b) => a - b), ...others].join();
}

/** Whether a part is the last day of the month, the last such day of the week, or the nth one. */
function isOfCalendar(part: string, rule: Rule, isStored: boolean): boolean {
  if (rule === dayOfMonth && /^\d*L$/.test(part)) {
    if (part.length > 1 && !isStored) throw mistake(part, rule, 'L without a number');
    return true;
  }
  return rule === dayOfWeek && (/^[0-7]L$/.test(part) || nthForm.test(part));
}

function numbersOf(part: string, rule: Rule): number[] {
  const [, all, first, last, step] = partForm.exec(part) ?? [];
  if (all === undefined && first === undefined) throw mistake(part, rule, formOf(rule));
  const every = step === undefined ? 1 : Number(step);
  if (every < 1) throw mistake(part, rule, 'steps of at least 1');
  const from = first === undefined ? rule.min : numberOf(first, part, rule);
  const to = last !== undefined ? endOf(last, from, part, rule) : all || step !== undefined ? rule.max : from;
  if (to < from) throw mistake(part, rule, 'ranges that end after their start');
  // As a whole week, `*` has seven days.
  const until = rule === dayOfWeek && last === undefined && to === rule.max ? Math.max(from, rule.max - 1) : to;
  return Array.from({ length: Math.floor((until - from) / every) + 1 }, (_, n) => from + n * every);
}

/** The end of a range: a Sunday that is one ends the week. */
function endOf(text: string, from: number, part: string, rule: Rule): number {
  const to = numberOf(text, part, rule);
  return rule === dayOfWeek && to === 0 && from > 0 ? 7 : to;
}

function numberOf(text: string, part: string, rule: Rule): number {
  const named = rule.names?.indexOf(text.toUpperCase()) ?? -1;
  const number = named >= 0 ? named + (rule === month ? 1 : 0) : /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= rule.min && number <= rule.max)) throw mistake(part, rule, formOf(rule));
  return number;
}

function formOf({ min, max, names }: Rule): string {
  const named = names ? ` (${names[0]} to ${names.at(-1)})` : '';
  return `* or ${min} to ${max}${named}, with lists (1,2), ranges (1-5) and steps (*/5),`;
}

/** right: what the field may have. */
function mistake(part: string, { name }: Rule, right: string): CronMistake {
  return new CronMistake(`must have ${right} as its ${name}, not ${JSON.stringify(part.slice(0, 64))}`);
}
