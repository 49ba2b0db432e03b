import { number, raw, time } from '../../engine/declare/field.ts';
import { exactly, many, record } from '../../engine/declare/record.ts';
import { figureNames } from '../../engine/metrics/message-figures.ts';
import { fields, id, optional } from '../../engine/route/fields.ts';
import { type Route, read } from '../../engine/route/route.ts';

const minuteMs = 60_000;
const minutesPerTen = 10;
const minutes = { prefix: 'm', length: 1, places: 60 };
const tens = { prefix: 't', length: minutesPerTen, places: 144 };

const count = (meaning: string) => number().means(meaning).example(12);

const PeriodFigures = record('PeriodFigures', {
  at: time().means('when the minute, or the ten minutes, began'),
  sent: count('messages sent, including results and those of schedules, but not requeues'),
  claimed: count('attempts begun: each message that a receive delivered'),
  acked: count('messages completed'),
  rejected: count('messages rejected by a worker'),
  failed: count('messages that FAILED: out of attempts, or a question that nobody answered'),
  expired: count('messages whose deadline passed'),
  cancelled: count(
    'messages cancelled: by a caller, with a run, by the decision of a group, or as a prerequisite failed',
  ),
});
type Period = typeof PeriodFigures.type;

interface Counted {
  readonly now: number;
  /** The minute since 1970 that is not closed yet; 0 if nothing was ever counted. */
  readonly openMinute: number;
  readonly totals: readonly number[];
  /** Names of places, each followed by its text. */
  readonly places: readonly string[];
}

/** Every period of a kind up to now, oldest first, with zeros for periods without counts. */
function periods(
  { prefix, length, places: wanted }: typeof minutes,
  { now, openMinute, totals, places }: Counted,
): Period[] {
  const texts = new Map<string, string>();
  for (let i = 0; i < places.length; i += 2) texts.set(places[i] as string, places[i + 1] as string);
  const base = (texts.get('base') ?? '').split(' ').map(Number);
  const open = Math.floor(openMinute / length);
  const last = Math.floor(now / minuteMs / length);
  return Array.from({ length: wanted }, (_, index) => {
    const period = last - wanted + 1 + index;
    const [keptOf, ...kept] = (texts.get(`${prefix}${period % wanted}`) ?? '').split(' ').map(Number);
    const counts = figureNames.map((name, i) => {
      const closed = keptOf === period ? (kept[i] ?? 0) : 0;
      return [name, closed + (period === open ? (totals[i] ?? 0) - (base[i] ?? 0) : 0)] as const;
    });
    return PeriodFigures.of({ at: period * length * minuteMs, ...Object.fromEntries(counts) });
  });
}

/** The figures of a space or of a mailbox. */
export const figuresRoute: Route = read({
  path: '/figures',
  call: 'figures.get',
  rate: 'operator',
  summary: 'Messages sent, claimed and ended, minute by minute and for a day by ten minutes',
  description:
    'Counted by the very steps that send, claim and end messages, so nothing is missing and nothing is sampled. ' +
    '`minutes` are the last 60, `tens` the last 144 times ten minutes, oldest first; the last one of each is still ' +
    'going on. Of the space, or with `mailboxId` of a mailbox.',
  query: fields({
    mailboxId: optional(id()).description('the mailbox whose figures to read; by default those of the whole space'),
  }),
  success: {
    200: exactly({
      asOf: time().schema,
      minutes: many(PeriodFigures, minutes.places).means('the last 60 minutes, oldest first').schema,
      tens: many(PeriodFigures, tens.places).means('the last day by ten minutes, oldest first').schema,
    }).meta({ component: 'Figures' }),
  },
  refuses: ['MAILBOX_NOT_FOUND'],
  needsAllMailboxes: 'without mailboxId',
  script: 'mailbox/figures',
  args: ({ query }) => ({ mailboxId: query.mailboxId ?? '' }),
  reply: { now: number(), openMinute: number(), totals: raw<number[]>(), places: raw<string[]>() },
  answer: (counted) => ({
    status: 200,
    body: {
      asOf: new Date(counted.now).toISOString(),
      minutes: periods(minutes, counted),
      tens: periods(tens, counted),
    },
  }),
});
