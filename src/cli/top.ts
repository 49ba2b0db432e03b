import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Answer, Muster } from '../clients/typescript/index.ts';
import { isPassing } from '../clients/typescript/journal.ts';
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
  readonly figures: Answer<'figures.get'>;
  readonly mailboxes: Answer<'mailbox.list'>['mailboxes'];
  readonly budgets: Answer<'budget.list'>['budgets'];
  readonly allowances: Answer<'allowance.list'>['allowances'];
}

const number = (name: string, min: number, max: number, kind: 'number' | 'whole number') => (text: string) => {
  const value = Number(text);
  if (value >= min && value <= max && (kind === 'number' || Number.isInteger(value))) return value;
  throw new ConfigError(`--${name} must be a ${kind} from ${min} to ${max}`);
};

export function addTopCommand(program: Command, cli: Cli): void {
  const top = program
    .command('top')
    .description(
      'live figures of a space: what waits, what became of messages in the last whole minute and hour, mailboxes, budgets and allowances',
    )
    .option('--interval <seconds>', 'seconds between updates', number('interval', 0.1, 3_600, 'number'), 2)
    .option(
      '--count <n>',
      'looks; by default 1 in a pipe, otherwise until Ctrl-C',
      number('count', 1, 1_000_000, 'whole number'),
    )
    .action(async ({ interval, count }: { interval: number; count?: number }) => {
      // Someone watches: a refusal is told now, and the next look is the next attempt.
      const muster = clientOf(cli.env, 'top', 1);
      const isLive = cli.isTable;
      let hasLooked = false;
      for (let left = count ?? (isLive ? Number.POSITIVE_INFINITY : 1); left > 0; left--) {
        try {
          const look = await lookAt(muster);
          if (isLive) cli.write(clear + screen(look, cli.rows));
          else cli.print(look);
          hasLooked = true;
        } catch (error) {
          // Keep watching while the server restarts.
          if (!hasLooked || !isPassing(error)) throw error;
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
  const [backlog, census, figures, { mailboxes }, { budgets }, { allowances }] = await Promise.all([
    muster.backlog.get(),
    muster.census.get(),
    muster.figures.get(),
    muster.mailbox.list({ limit }),
    muster.budget.list({ limit }),
    muster.allowance.list({ limit }),
  ]);
  return { backlog, census, figures, mailboxes, budgets, allowances };
}

/** The lines for a terminal with this many rows. */
export function screen(look: Look, rows: number): string {
  const { backlog, census, budgets, allowances } = look;
  const { minutes } = look.figures;
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
    `last min  ${figures(happened(minutes.slice(-2, -1)))}`,
    `last hour ${figures(happened(minutes))}`,
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
  // Room for blank lines between the parts, the mailboxes' title and remainder, and the cursor's line.
  const used = [head, ...rest].join('\n\n').split('\n').length + 4;
  return `${[head, section(busiest, Math.max(fewRows, rows - used)), ...rest].filter(Boolean).join('\n\n')}\n`;
}

function section(rows: readonly object[], maxRows: number): string {
  if (rows.length === 0) return '';
  const more =
    rows.length > maxRows ? `\n… and ${rows.length - maxRows}${rows.length === pageSize ? ' or more' : ''}` : '';
  return table({ rows: rows.slice(0, maxRows) }).trimEnd() + more;
}

/** The sums over these minutes. */
function happened(minutes: Look['figures']['minutes']): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { at: _at, ...counts } of minutes)
    for (const [name, n] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + n;
  return sums;
}

/** The number of unfinished messages in a mailbox. */
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
  // Each part of a look has its own moment, so a message may be newer than `asOf`.
  return `${Math.floor(Math.max(0, seconds) / size)} ${unit}`;
}

/** Minor units with their decimals: 1050 of scale 2 is 10.50. */
function decimal(minor: string, scale: number): string {
  if (scale === 0) return minor;
  const digits = minor.replace('-', '').padStart(scale + 1, '0');
  return `${minor.startsWith('-') ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
