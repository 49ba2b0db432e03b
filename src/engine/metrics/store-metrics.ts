import type { Metric } from 'prom-client';
import { countOf } from '../declare/event.ts';
import { type Depths, holdStates, messageStates, outboxStates, scheduleStates } from './depths.ts';
import { figureNames, totalOf } from './message-figures.ts';
import { type Sample, scraped } from './scraped.ts';
import type { Reading } from './store-reading.ts';

type Late = NonNullable<Reading['lateDestinations']>[number];
type Shown = number | boolean | undefined;

/**
 * Metrics read from the store. A figure that cannot be read is left out rather than shown as 0. events: the types that spaces
 * count. isPrivate: whether they may name organizations.
 */
export function storeMetrics(read: () => Promise<Reading>, events: readonly string[], isPrivate: boolean): Metric[] {
  const one =
    (type: 'counter' | 'gauge') =>
    (name: string, help: string, show: (reading: Reading) => Shown): Metric =>
      scraped(type, name, help, async () => {
        const shown = show(await read());
        return shown === undefined ? [] : [{ value: Number(shown) }];
      });
  const [gauge, counter] = [one('gauge'), one('counter')];
  const byState = (name: string, help: string, kind: string, states: readonly string[]): Metric =>
    scraped('gauge', name, help, async (): Promise<Sample[]> => {
      const { depths } = await read();
      if (!depths) return [];
      return states.map((state) => ({ labels: { state }, value: depths.counts.get(`${kind}:${state}`) ?? 0 }));
    });
  /** By destination if they may be named, else only the highest. */
  const byDestination = (name: string, help: string, of: (one: Late) => number): Metric =>
    scraped('gauge', name, `${help}, of the 50 that are the furthest behind`, async (): Promise<Sample[]> => {
      const { lateDestinations: all } = await read();
      if (!all) return [];
      if (!isPrivate) return [{ value: Math.max(0, ...all.map(of)) }];
      return all.map((one) => {
        const { org, space, destination } = one;
        return { labels: { org, space, destination }, value: of(one) };
      });
    });
  /** By organization if they may be named, else only the highest. */
  const byOrganization = (name: string, help: string, of: (depths: Depths) => ReadonlyMap<string, number>): Metric =>
    scraped('gauge', name, help, async (): Promise<Sample[]> => {
      const { depths } = await read();
      const ratios = depths ? [...of(depths)] : [];
      if (isPrivate) return ratios.map(([org, value]) => ({ labels: { org }, value }));
      return ratios.length === 0 ? [] : [{ value: Math.max(...ratios.map(([, value]) => value)) }];
    });

  return [
    gauge('muster_store_up', 'Whether the store accepts calls, as in GET /readyz', ({ isUp }) => isUp),
    gauge('muster_store_masters', 'Redis servers that hold the data', ({ state }) => state?.masters),
    gauge('muster_store_memory_bytes', 'Memory used by Redis', ({ state }) => state?.usedMemoryBytes),
    gauge(
      'muster_store_memory_ratio',
      'Used share of maxmemory on the fullest server; absent when there is no limit',
      ({ state }) => state?.memoryRatio,
    ),
    gauge('muster_store_clients', 'Connections to Redis', ({ state }) => state?.clients),
    counter('muster_store_commands_total', 'Commands run by Redis', ({ state }) => state?.commands),
    counter(
      'muster_store_evicted_keys_total',
      'Keys evicted by Redis for lack of memory: each is lost data',
      ({ state }) => state?.evictedKeys,
    ),
    gauge(
      'muster_store_append_only',
      'Whether every server keeps an append-only file',
      ({ state }) => state?.isAppendOnly,
    ),
    gauge('muster_store_persisting', 'Whether the last writes to disk succeeded', ({ state }) => state?.isPersisting),
    gauge(
      'muster_sweep_lag_seconds',
      'How long the earliest due timer has been overdue',
      ({ sweepLagSeconds }) => sweepLagSeconds,
    ),
    gauge(
      'muster_worker_lag_seconds',
      "How late the workers' next round is, whether anything is due or not: above some seconds, no worker runs",
      ({ workerLagSeconds }) => workerLagSeconds,
    ),
    gauge(
      'muster_snapshot_age_seconds',
      "How old the newest snapshot in this worker's folder is, or how long it has run without one",
      ({ snapshots }) => snapshots?.ageSeconds,
    ),
    gauge(
      'muster_snapshot_interval_seconds',
      'How often the workers make a snapshot',
      ({ snapshots }) => snapshots?.intervalSeconds,
    ),
    gauge(
      'muster_snapshot_failing',
      "Whether this worker's last snapshot failed or was refused, and there is none since",
      ({ snapshots }) => snapshots?.isFailing,
    ),
    byState('muster_messages', 'Unfinished messages of all organizations', 'messages', messageStates),
    scraped(
      'counter',
      'muster_messages_total',
      'Messages sent, claimed and ended, of all organizations, by event',
      async (): Promise<Sample[]> => {
        const { depths } = await read();
        if (!depths) return [];
        return figureNames.map((event) => ({ labels: { event }, value: depths.counts.get(totalOf(event)) ?? 0 }));
      },
    ),
    scraped(
      'counter',
      'muster_events_total',
      'Events of all organizations that report failed, requeued or cancelled work, or overdrawn budgets',
      async (): Promise<Sample[]> => {
        const { depths } = await read();
        if (!depths) return [];
        return events.map((type) => ({ labels: { type }, value: depths.counts.get(countOf(type)) ?? 0 }));
      },
    ),
    gauge('muster_waiters', 'Waiters in line for an allowance, in all organizations', ({ depths }) =>
      depths?.counts.get('waiters:WAITING'),
    ),
    byState('muster_holds', 'Holds of pools, of all organizations, that have not ended', 'holds', holdStates),
    gauge('muster_timers', 'Armed timers of all organizations', ({ depths }) => depths?.counts.get('timers:ARMED')),
    byState('muster_schedules', 'Schedules of all organizations that have not ended', 'schedules', scheduleStates),
    gauge(
      'muster_schedule_lag_seconds',
      'How long the earliest due moment of a schedule has been overdue; 0 if none is due',
      ({ depths }) => depths?.scheduleLagSeconds,
    ),
    byState(
      'muster_outbox',
      'Events for webhook destinations: not yet read, to be delivered, given up',
      'outbox',
      outboxStates,
    ),
    gauge(
      'muster_failing_destination_seconds',
      'How long the longest failing webhook destination has failed without a success; 0 if none fails',
      ({ depths }) => depths?.failingDestinationSeconds,
    ),
    byDestination(
      'muster_destination_lag_seconds',
      'How long ago the oldest event happened that a webhook destination is still to get',
      ({ lagSeconds }) => lagSeconds,
    ),
    byDestination(
      'muster_destination_waiting',
      'Events that are to be delivered to a webhook destination',
      ({ waiting }) => waiting,
    ),
    byDestination(
      'muster_destination_unread',
      'Events of its types that a webhook destination has still to read, of the next 500 in the journal',
      ({ unread }) => unread,
    ),
    gauge(
      'muster_oldest_ready_age_seconds',
      'How long the oldest READY message has been ready; 0 if there is none',
      ({ depths }) => depths?.oldestReadyAgeSeconds,
    ),
    gauge(
      'muster_oldest_claim_age_seconds',
      'How long the oldest claim has been held, renewals included, as of the last minute; 0 if there is none',
      ({ oldestClaimAgeSeconds }) => oldestClaimAgeSeconds,
    ),
    gauge(
      'muster_oldest_waiter_age_seconds',
      'How long the oldest WAITING waiter has waited; 0 if there is none',
      ({ depths }) => depths?.oldestWaiterAgeSeconds,
    ),
    gauge(
      'muster_pack_lag_seconds',
      'How long the packing of the oldest event or finished message is overdue; absent if SEAL_AFTER_SECONDS is 0',
      ({ depths, packedAfterSeconds: after }) =>
        depths && after
          ? Math.max(
              0,
              depths.oldestUnpackedAgeSeconds - after.events,
              depths.messagesUnpackedAgeSeconds - after.messages,
            )
          : undefined,
    ),
    gauge(
      'muster_retained_bytes',
      'Bytes of payloads, results, notes and the like that all organizations keep',
      ({ depths }) => depths?.counts.get('retainedBytes'),
    ),
    byOrganization(
      'muster_retained_bytes_ratio',
      'Retained bytes of the fullest space of an organization as a share of their limit; absent where there is none',
      ({ retainedRatios }) => retainedRatios,
    ),
    byOrganization(
      'muster_rate_used_ratio',
      'The highest share of its requests per minute that an organization or one of its spaces has used in this minute',
      ({ rateRatios }) => rateRatios,
    ),
    gauge('muster_spaces_read', 'Spaces included in depths and ages', ({ depths }) => depths?.spaces),
    gauge(
      'muster_spaces_partial',
      'Whether there are more spaces than a reading includes',
      ({ depths }) => depths?.isPartial,
    ),
  ];
}
