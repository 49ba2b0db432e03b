import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Answer, Muster } from '../client/index.ts';
import { isPassing } from '../client/journal.ts';
import { ConfigError } from '../config.ts';
import { asksTheApi, clientOf } from './client.ts';
import { type Cli, examples } from './command.ts';
import { table } from './table.ts';

const pageSize = 100;
/** Rows of budgets and of allowances; mailboxes get the rest of the screen. */
const fewRows = 5;
const clear = '\x1b[H\x1b[J';

interface Look {
  readonly backlog: Answer<'backlog.get'>;
  readonly census: Answer<'census.get'>;
  readonly usage: Answer<'usage.get'>['days'][number] | undefined;
  readonly mailboxes: Answer<'mailbox.list'>['mailboxes'];
  readonly budgets: Answer<'budget.list'>['budgets'];
  readonly allowances: Answer<'allowance.list'>['allowances'];
}

const number = (name: string, min: number, max: number) => (text: string) => {
  const value = Number(text);
  if (!(value >= min && value <= max)) throw new ConfigError(`--${name} must be a number from ${min} to ${max}`);
  return value;
};

/** `muster top`. */
export function addTopCommand(program: Command, cli: Cli): void {
  const top = program
    .command('top')
    .description('live figures of a space: what waits, how fast work goes, mailboxes, budgets and allowances')
    .option('--interval <seconds>', 'between two looks', number('interval', 0.1, 3_600), 2)
    .option('--count <n>', 'looks; by default 1 in a pipe, otherwise until Ctrl-C', number('count', 1, 1_000_000))
    .action(async ({ interval, count }: { interval: number; count?: number }) => {
      const muster = clientOf(cli.env, 'top');
      const isLive = cli.isTable;
      let before: Look | undefined;
      for (let left = count ?? (isLive ? Number.POSITIVE_INFINITY : 1); left > 0; left--) {
        try {
          const look = await lookAt(muster);
          if (isLive) cli.write(clear + screen(look, before, cli.rows));
          else cli.print(look);
          before = look;
        } catch (error) {
          // A server that restarts does not end what somebody is watching.
          if (!before || !isPassing(error)) throw error;
          cli.warn(`${(error as Error).message}; trying again`);
        }
        if (left > 1) await sleep(interval * 1000);
      }
    });
  top.addHelpText('after', asksTheApi('coordination_read'));
  examples(top, 'top', 'top --interval 10', 'top --count 1 --json');
}

async function lookAt(muster: Muster): Promise<Look> {
  const limit = pageSize;
  const [backlog, census, { days }, { mailboxes }, { budgets }, { allowances }] = await Promise.all([
    muster.backlog.get(),
    muster.census.get(),
    muster.usage.get({ from: new Date().toISOString().slice(0, 10) }),
    muster.mailbox.list({ limit }),
    muster.budget.list({ limit }),
    muster.allowance.list({ limit }),
  ]);
  return { backlog, census, usage: days.at(-1), mailboxes, budgets, allowances };
}

/** The lines for a terminal with this many rows. */
function screen(look: Look, before: Look | undefined, rows: number): string {
  const { backlog, census, budgets, allowances } = look;
  const asOf = Date.parse(backlog.asOf);
  const { UNREAD, PENDING, EXHAUSTED } = backlog.outbox;
  const waits = {
    waiters: backlog.waitingWaiters,
    timers: backlog.armedTimers,
    deliveries: UNREAD + PENDING,
    EXHAUSTED,
  };
  const head = [
    `${backlog.asOf.slice(0, 19).replace('T', ' ')} UTC`,
    `messages  ${figures(census.messages, backlog.oldestReadyAgeSeconds)}`,
    `waiting   ${figures(waits, backlog.oldestWaiterAgeSeconds)}`,
    `calls/s   ${before ? figures(rates(look, before)) : 'from the next look on'}`,
  ].join('\n');
  const boxes = look.mailboxes.map(({ name, counts, oldestReadyAt }) => ({
    mailbox: name,
    ...counts,
    oldest: age(oldestReadyAt === null ? null : (asOf - Date.parse(oldestReadyAt)) / 1000),
  }));
  const busiest = boxes.sort((a, b) => backlogOf(b) - backlogOf(a));
  const money = budgets.map(
    ({ name, currency, scale, balances: { limit, settled, reserved, available, overdrawn } }) => {
      const amount = (minor: string): string => `${decimal(minor, scale)} ${currency}`;
      return {
        budget: name,
        limit: amount(limit),
        settled: amount(settled),
        reserved: amount(reserved),
        available: overdrawn === '0' ? amount(available) : `overdrawn ${amount(overdrawn)}`,
      };
    },
  );
  const quotas = allowances.map(({ name, unitsLimit, usedUnits, waiting, cooldownUntil }) => {
    const cooldown = cooldownUntil === null ? null : (Date.parse(cooldownUntil) - asOf) / 1000;
    return { allowance: name, used: usedUnits, limit: unitsLimit, waiting, cooldown: age(cooldown) };
  });
  const rest = [section(money, fewRows), section(quotas, fewRows)].filter((text) => text !== '');
  // With a line between all of them, the mailboxes' titles, what is left of them, and the cursor's line.
  const used = [head, ...rest].join('\n\n').split('\n').length + 4;
  return `${[head, section(busiest, Math.max(fewRows, rows - used)), ...rest].filter(Boolean).join('\n\n')}\n`;
}

function section(rows: readonly object[], maxRows: number): string {
  if (rows.length === 0) return '';
  const more =
    rows.length > maxRows ? `\n… and ${rows.length - maxRows}${rows.length === pageSize ? ' or more' : ''}` : '';
  return table({ rows: rows.slice(0, maxRows) }).trimEnd() + more;
}

/** Changing calls a second since the look before. */
function rates({ backlog, usage }: Look, before: Look | undefined): Record<string, number> {
  if (!usage || !before) return {};
  const seconds = (Date.parse(backlog.asOf) - Date.parse(before.backlog.asOf)) / 1000;
  const counted = before.usage?.date === usage.date ? before.usage.byCall : {};
  const all = Object.entries(usage.byCall).map(([call, n]): [string, number] => [call, n - (counted[call] ?? 0)]);
  const busy = all.filter(([, n]) => n > 0).sort(([, a], [, b]) => b - a);
  return Object.fromEntries(busy.slice(0, fewRows).map(([call, n]) => [call, Math.round((n / seconds) * 10) / 10]));
}

/** The messages of a mailbox that are not finished. */
function backlogOf({ ready, delayed, blocked, claimed }: Look['mailboxes'][number]['counts']): number {
  return ready + delayed + blocked + claimed;
}

/** The counts above 0, and how long the oldest has waited. */
function figures(all: Readonly<Record<string, number>>, oldestSeconds: number | null = null): string {
  const counts = Object.entries(all).flatMap(([name, n]) => (n === 0 ? [] : [`${n.toLocaleString('en')} ${name}`]));
  const oldest = oldestSeconds === null ? [] : [`oldest ${age(oldestSeconds)}`];
  return [...counts, ...oldest].join('   ') || '-';
}

function age(seconds: number | null): string {
  if (seconds === null) return '-';
  const [size, unit] = (
    [
      [86_400, 'd'],
      [3_600, 'h'],
      [60, 'min'],
    ] as const
  ).find(([size]) => seconds >= size) ?? [1, 's'];
  return `${Math.floor(seconds / size)} ${unit}`;
}

/** Minor units with their decimals: 1050 of scale 2 is 10.50. */
function decimal(minor: string, scale: number): string {
  if (scale === 0) return minor;
  const digits = minor.replace('-', '').padStart(scale + 1, '0');
  return `${minor.startsWith('-') ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
