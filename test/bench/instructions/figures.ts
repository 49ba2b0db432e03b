import { readFile, writeFile } from 'node:fs/promises';
import { median, table, whole } from '../report.ts';
import { CALL_NAMES, type CallName } from './calls.ts';
import type { Found } from './rounds.ts';

export const WAYS = ['alone', 'gathered'] as const;
export type Way = (typeof WAYS)[number];

/** A value for each call and way. */
export type PerCall<Value> = Record<CallName, Record<Way, Value>>;

export interface Figures {
  /** Instructions of one call. */
  readonly instructions: PerCall<number>;
  /** The spread between the rounds, in per cent of the median. */
  readonly spread: PerCall<number>;
  /** Instructions of a PING. */
  readonly ping: number;
  readonly redis: string;
}

export function perCall<Value>(value: (name: CallName, way: Way) => Value): PerCall<Value> {
  const ways = (name: CallName) => Object.fromEntries(WAYS.map((way) => [way, value(name, way)]));
  return Object.fromEntries(CALL_NAMES.map((name) => [name, ways(name)])) as PerCall<Value>;
}

export function figuresOf({ calls: rounds, pings }: Found, redis: string): Figures {
  const spreadOf = (values: number[]): number => ((Math.max(...values) - Math.min(...values)) / median(values)) * 100;
  return {
    instructions: perCall((name, way) => Math.round(median(rounds[name][way]))),
    spread: perCall((name, way) => Number(spreadOf(rounds[name][way]).toFixed(2))),
    ping: Math.round(median(pings)),
    redis,
  };
}

export async function writeFigures(path: string, figures: Figures): Promise<void> {
  await writeFile(path, `${JSON.stringify(figures, null, 2)}\n`);
}

export async function readFigures(path: string): Promise<Figures> {
  return JSON.parse(await readFile(path, 'utf8')) as Figures;
}

const signed = (percent: number): string => `${percent < 0 ? '' : '+'}${percent.toFixed(2)} %`;

/**
 * A table of the instructions, each with the spread between the rounds or, if there are earlier figures, the change.
 */
export function figuresTable(figures: Figures, earlier?: Figures): string {
  const change = (now: number, before: number): string => signed((now / before - 1) * 100);
  const rows = CALL_NAMES.map((name) => [
    name,
    ...WAYS.flatMap((way) => {
      const now = figures.instructions[name][way];
      const before = earlier?.instructions[name][way];
      return [whole(now), before === undefined ? `${figures.spread[name][way].toFixed(2)} %` : change(now, before)];
    }),
  ]);
  rows.push(['PING', whole(figures.ping), earlier ? change(figures.ping, earlier.ping) : '']);
  const share = earlier ? 'change' : 'spread';
  return table(
    `Instructions of redis-server ${figures.redis} per call`,
    ['', 'alone', share, 'gathered by eight', share],
    rows,
  );
}
