import { countOf } from '../declare/event.ts';
import { type Answered, number, raw } from '../declare/field.ts';
import { nowOf, type Store, serverOf } from '../redis/cluster.ts';
import { dueKey } from '../redis/due.ts';
import { organizationsKey } from '../redis/organizations.ts';
import type { Scripts } from '../redis/scripts.ts';
import { figureNames, totalOf } from './message-figures.ts';

/** Bounds a reading to about twenty milliseconds of the store's time, however much the store holds. */
const maxOrganizations = 200;
const maxSpaces = 1_000;
/** Reduces the number of round trips of a scrape. */
const organizationsAtOnce = 10;
/** Blocks the store for about a millisecond per organization. */
const maxSpacesPerOrganization = 50;

export const outboxStates = ['UNREAD', 'PENDING', 'EXHAUSTED'] as const;
export const messageStates = ['READY', 'DELAYED', 'BLOCKED', 'CLAIMED'] as const;
export const holdStates = ['WAITING', 'HELD'] as const;
export const scheduleStates = ['ACTIVE', 'PAUSED'] as const;

const backlog = [
  ...messageStates.map((state) => `messages:${state}`),
  'waiters:WAITING',
  ...holdStates.map((state) => `holds:${state}`),
  'timers:ARMED',
  ...scheduleStates.map((state) => `schedules:${state}`),
  ...outboxStates.map((state) => `outbox:${state}`),
  ...figureNames.map(totalOf),
  'retainedBytes',
];

const ages = [
  'oldestReadyAt',
  'oldestWaitingAt',
  'nextScheduleAt',
  'oldestUnpackedAt',
  'messagesPackedAt',
  'oldestFailingAt',
];

const depths = {
  script: 'space/depths',
  reply: {
    seen: number(),
    spaces: number(),
    sums: raw<number[]>(),
    ages: raw<number[]>(),
    fullest: number().orNull(),
    busiest: number(),
  },
};

/** Pending work, summed over all organizations. */
export interface Depths {
  /** By counter, such as `messages:READY` and `events:message.requeued`. */
  readonly counts: ReadonlyMap<string, number>;
  /** 0 if nothing waits or is due. */
  readonly oldestReadyAgeSeconds: number;
  readonly oldestWaiterAgeSeconds: number;
  readonly scheduleLagSeconds: number;
  readonly oldestUnpackedAgeSeconds: number;
  readonly messagesUnpackedAgeSeconds: number;
  /** How long the longest failing destination has failed without a success in between. */
  readonly failingDestinationSeconds: number;
  /** By organization: the retained bytes of its fullest space, as a share of their limit; without those that have none. */
  readonly retainedRatios: ReadonlyMap<string, number>;
  /** By organization: the highest share of their requests per minute that it and its spaces have used in this minute. */
  readonly rateRatios: ReadonlyMap<string, number>;
  readonly spaces: number;
  /** Some spaces were left out, so the sums are too low. */
  readonly isPartial: boolean;
}

/** Sums over the spaces, organization by organization, in bounded steps. events: the types that spaces count. */
export async function readDepths(store: Store, scripts: Scripts, events: readonly string[]): Promise<Depths> {
  const counters = [...backlog, ...events.map(countOf)];
  const counts = new Map(counters.map((name) => [name, 0]));
  const [more, found] = await store.sscan(organizationsKey, '0', 'COUNT', maxOrganizations);
  const orgs = found.slice(0, maxOrganizations);
  let isPartial = more !== '0' || orgs.length < found.length;
  let spaces = 0;
  let oldestMs = ages.map(() => 0);
  const args = {
    spaceId: '',
    requestId: '',
    counters: counters.join(),
    ages: ages.join(),
    maxSpaces: maxSpacesPerOrganization,
  };
  const [retainedRatios, rateRatios] = [new Map<string, number>(), new Map<string, number>()];
  const add = (org: string, found: Answered<typeof depths.reply>): void => {
    if (found.fullest !== null) retainedRatios.set(org, found.fullest / 1000);
    rateRatios.set(org, found.busiest / 1000);
    for (const [i, name] of counters.entries()) counts.set(name, (counts.get(name) ?? 0) + (found.sums[i] ?? 0));
    spaces += found.seen;
    isPartial ||= found.seen < found.spaces;
    oldestMs = oldestMs.map((ms, i) => Math.max(ms, found.ages[i] ?? 0));
  };
  for (let at = 0; at < orgs.length; at += organizationsAtOnce) {
    if (spaces >= maxSpaces) {
      isPartial = true;
      break;
    }
    const some = orgs.slice(at, at + organizationsAtOnce);
    const answers = await Promise.all(some.map(async (org) => [org, await scripts.ask(depths, org, args)] as const));
    for (const [org, found] of answers) add(org, found);
  }
  const [
    oldestReadyAgeSeconds = 0,
    oldestWaiterAgeSeconds = 0,
    scheduleLagSeconds = 0,
    oldestUnpackedAgeSeconds = 0,
    messagesUnpackedAgeSeconds = 0,
    failingDestinationSeconds = 0,
  ] = oldestMs.map((ms) => ms / 1000);
  return {
    counts,
    oldestReadyAgeSeconds,
    oldestWaiterAgeSeconds,
    scheduleLagSeconds,
    oldestUnpackedAgeSeconds,
    messagesUnpackedAgeSeconds,
    failingDestinationSeconds,
    retainedRatios,
    rateRatios,
    spaces,
    isPartial,
  };
}

/** How long the earliest timer has been overdue: how far the sweeper is behind. */
export async function readSweepLag(store: Store): Promise<number> {
  const first = store.zrange(dueKey, '0', '0', 'WITHSCORES');
  const [now, [, due]] = await Promise.all([nowOf(serverOf(store, dueKey)), first]);
  return due === undefined ? 0 : Math.max(0, now - Number(due)) / 1000;
}
