/** What Prometheus is told of a series, every 15 seconds, in the notation of promtool. */
const perMinute = 4;

/** The same value for some minutes. */
const at = (value: number, minutes: number): string => `${value}+0x${minutes * perMinute - 1}`;
/** A counter that grows by `step` every 15 seconds. */
const rising = (from: number, step: number, minutes: number): string => `${from}+${step}x${minutes * perMinute - 1}`;
const over = (...parts: readonly string[]): string => parts.join(' ');
/** A gauge that is good for ten minutes, bad for as long as said, and good again. */
const bad = (good: number, value: number, minutes: number): string =>
  over(at(good, 10), at(value, minutes), at(good, 90));

/** A shipped rule, and when it is to fire. */
export interface Case {
  readonly alert: string;
  readonly because: string;
  readonly series: Readonly<Record<string, string>>;
  /** Minutes at which it fires, and at which it does not. */
  readonly fires: readonly number[];
  readonly silent: readonly number[];
  /** Labels of the alert besides its severity. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly summary: string;
}

const up = (instance: string): string => `up{job="muster",instance="${instance}"}`;
const responses = (name: string): string => `muster_http_responses_total{class="${name}",instance="a"}`;
const refusals = (code: string): string => `muster_refusals_total{code="${code}",instance="a"}`;
const messages = (event: string, instance: string): string =>
  `muster_messages_total{event="${event}",instance="${instance}"}`;
const requests = (le: string, route: string): string =>
  `muster_http_request_duration_seconds_bucket{le="${le}",route="${route}"}`;
const scripts = (le: string): string => `muster_script_duration_seconds_bucket{le="${le}"}`;

export const cases: readonly Case[] = [
  {
    alert: 'MusterDown',
    because: 'no process answers',
    series: { [up('a')]: bad(1, 0, 5), [up('b')]: bad(1, 0, 6) },
    fires: [11.5, 14],
    silent: [9, 10.5, 15.5],
    summary: 'No Muster process answers.',
  },
  {
    alert: 'MusterDown',
    because: 'there is no process at all',
    series: { 'up{job="other"}': at(1, 10) },
    fires: [2],
    silent: [],
    summary: 'No Muster process answers.',
  },
  {
    alert: 'MusterProcessDown',
    because: 'one of several does not answer',
    series: { [up('a')]: at(1, 30), [up('b')]: bad(1, 0, 5) },
    fires: [11.5],
    silent: [10.5, 15.5],
    labels: { job: 'muster', instance: 'b' },
    summary: 'b does not answer.',
  },
  {
    alert: 'MusterProcessGone',
    because: 'one of several is no target any longer',
    series: { [up('a')]: at(1, 60), [up('b')]: at(1, 60), [up('c')]: over(at(1, 20), 'stale') },
    fires: [23, 29],
    silent: [19, 21, 31],
    summary: '2 Muster processes are left, fewer than some minutes ago.',
  },
  {
    alert: 'MusterProcessGone',
    because: 'an upgrade ran more of them for some minutes',
    series: {
      [up('a')]: at(1, 60),
      [up('b')]: over(at(1, 24), 'stale'),
      [up('c')]: over(`_x${20 * perMinute}`, at(1, 40)),
    },
    fires: [],
    silent: [23, 25, 30, 35, 45],
    summary: '',
  },
  {
    alert: 'MusterNoWorker',
    because: 'the last worker has ended',
    series: { 'muster_worker_lag_seconds{instance="a"}': over(at(0, 10), rising(0, 15, 5), at(0, 10)) },
    fires: [12],
    silent: [9, 10.5, 15.5],
    summary: 'No worker has run for 2m 0s: timers, webhooks and snapshots stand still.',
  },
  {
    alert: 'MusterStoreDown',
    because: 'no process reaches Redis',
    series: { 'muster_store_up{instance="a"}': bad(1, 0, 5), 'muster_store_up{instance="b"}': bad(1, 0, 5) },
    fires: [11.5],
    silent: [9, 10.5, 15.5],
    summary: 'Redis takes no calls: every request gets a 503.',
  },
  {
    alert: 'MusterStoreNotPersisting',
    because: 'its disk is full',
    series: { muster_store_persisting: bad(1, 0, 5) },
    fires: [11.5],
    silent: [10.5, 15.5],
    summary: 'Redis cannot write to its disk.',
  },
  {
    alert: 'MusterStoreNoLog',
    because: 'it runs without appendonly',
    series: { muster_store_append_only: bad(1, 0, 5) },
    fires: [11.5],
    silent: [10.5, 15.5],
    summary: 'Redis keeps no log (appendonly no): if it ends, it loses all since its last dump.',
  },
  {
    alert: 'MusterStoreEvicting',
    because: 'it has evicted a key',
    series: { muster_store_evicted_keys_total: bad(0, 3, 90) },
    fires: [11, 19],
    silent: [9, 21],
    summary: 'Redis evicts keys: set maxmemory-policy noeviction.',
  },
  {
    alert: 'MusterStoreMemory',
    because: 'it is nearly full',
    series: { muster_store_memory_ratio: bad(0.5, 0.9, 10) },
    fires: [16],
    silent: [14, 21],
    summary: 'Redis is at 90% of its memory; when it is full, requests get a 503.',
  },
  {
    alert: 'MusterRetainedBytes',
    because: 'a space is nearly full',
    series: {
      'muster_retained_bytes_ratio{org="acme"}': bad(0.5, 0.9, 10),
      'muster_retained_bytes_ratio{org="b"}': at(0.1, 90),
    },
    fires: [16],
    silent: [14, 21],
    labels: { org: 'acme' },
    summary: 'A space of acme keeps 90% of what it may; at 100 % its sends are refused.',
  },
  {
    alert: 'MusterErrors',
    because: 'Redis has been away for half a minute',
    series: {
      [responses('2xx')]: over(rising(0, 100, 10), at(4_000, 0.5), rising(4_000, 100, 20)),
      [responses('5xx')]: over(at(0, 10), rising(0, 100, 0.5), at(100, 20)),
    },
    fires: [10.25],
    silent: [9, 12],
    summary: '25% of requests fail with a 5xx.',
  },
  {
    alert: 'MusterErrors',
    because: 'Redis is away for two minutes',
    series: {
      [responses('2xx')]: over(rising(0, 100, 10), at(4_000, 2), rising(4_000, 100, 20)),
      [responses('5xx')]: over(at(0, 10), rising(0, 100, 2), at(700, 20)),
    },
    fires: [11.25, 11.75],
    silent: [9, 10, 13.25],
    summary: '100% of requests fail with a 5xx.',
  },
  {
    alert: 'MusterErrors',
    because: 'one request in a quiet hour has failed',
    series: { [responses('2xx')]: rising(0, 1, 60), [responses('5xx')]: over(at(0, 10), at(1, 20)) },
    fires: [],
    silent: [10.25, 10.5, 11, 12, 15],
    summary: '',
  },
  {
    alert: 'MusterSlow',
    because: 'two requests in a hundred take a second, not counting held ones',
    series: {
      [requests('0.25', '/a')]: over(rising(0, 100, 20), rising(8_000, 98, 25), rising(17_800, 100, 40)),
      [requests('1', '/a')]: rising(0, 100, 85),
      [requests('+Inf', '/a')]: rising(0, 100, 85),
      [requests('0.25', '/b/recv')]: at(0, 85),
      [requests('1', '/b/recv')]: at(0, 85),
      [requests('+Inf', '/b/recv')]: rising(0, 100, 85),
    },
    fires: [35, 44],
    silent: [19, 29, 55],
    summary: 'One request in a hundred takes longer than 625ms.',
  },
  {
    alert: 'MusterScriptsSlow',
    because: 'two in a hundred take a quarter of a second',
    series: {
      [scripts('0.05')]: over(rising(0, 100, 20), rising(8_000, 98, 25), rising(17_800, 100, 40)),
      [scripts('0.25')]: rising(0, 100, 85),
      [scripts('+Inf')]: rising(0, 100, 85),
    },
    fires: [35, 44],
    silent: [19, 29, 55],
    summary: 'One store call in a hundred takes longer than 150ms.',
  },
  {
    alert: 'MusterSweepLag',
    because: 'timers are overdue',
    series: { muster_sweep_lag_seconds: bad(0, 65, 5) },
    fires: [11.5],
    silent: [10.5, 15.5],
    summary: 'Timers are 1m 5s overdue: no worker is running, or it is too slow.',
  },
  {
    alert: 'MusterScheduleLag',
    because: 'a schedule is overdue',
    series: { muster_schedule_lag_seconds: bad(0, 65, 5) },
    fires: [11.5],
    silent: [10.5, 15.5],
    summary: 'A schedule is 1m 5s overdue: no worker is running, or it is too slow.',
  },
  {
    alert: 'MusterMessagesWait',
    because: 'nobody has received for more than an hour',
    series: { muster_oldest_ready_age_seconds: bad(0, 3_700, 10) },
    fires: [16],
    silent: [14, 20.5],
    summary: 'A message has waited for 1h 1m 40s: too few agents receive.',
  },
  {
    alert: 'MusterClaimHeld',
    because: 'a claim is renewed for ever',
    series: { muster_oldest_claim_age_seconds: bad(0, 50_000, 10) },
    fires: [16],
    silent: [14, 20.5],
    summary:
      'A claim has been held, and renewed, for 13h 53m 20s: Waits of the console and GET /ops/waits name the holders.',
  },
  {
    alert: 'MusterWorkFails',
    because: 'one message in ten fails, which both processes report',
    series: Object.fromEntries(
      ['a', 'b'].flatMap((instance) => [
        [messages('acked', instance), rising(0, 9, 90)],
        [messages('failed', instance), over(at(0, 20), rising(1, 1, 20), at(81, 50))],
        [messages('rejected', instance), at(0, 90)],
        [messages('expired', instance), at(0, 90)],
      ]),
    ),
    fires: [38],
    silent: [19, 55],
    summary: '10% of the messages that ended in 15 minutes failed, were rejected or expired.',
  },
  {
    alert: 'MusterBudgetUsedUp',
    because: 'a process has refused for the first time',
    series: { [refusals('INSUFFICIENT_BUDGET')]: over(at(0, 10), at(1, 50)) },
    fires: [10.25, 19],
    silent: [9, 21],
    summary: 'A reserve was refused: a budget is used up, or overdrawn. The console and GET /budgets say which.',
  },
  {
    alert: 'MusterBudgetOverdrawn',
    because: 'a budget was overdrawn',
    series: { 'muster_events_total{type="budget.overdrawn"}': over(at(0, 10), at(1, 90)) },
    fires: [11, 60],
    silent: [9, 75],
    summary: 'More was spent than a budget had: raise limitMinor to go on.',
  },
  ...['BACKLOG_FULL', 'OPERATIONS_EXHAUSTED', 'RETAINED_BYTES_EXCEEDED', 'ACTIVE_TASKS_LIMITED', 'NOTES_FULL'].map(
    (code): Case => ({
      alert: 'MusterLimitReached',
      because: `a call was refused with ${code}`,
      series: { [refusals(code)]: over(at(0, 10), at(1, 50)), [refusals('CLAIM_LOST')]: rising(0, 10, 60) },
      fires: [10.25, 19],
      silent: [9, 21],
      labels: { code },
      summary: `Calls are refused with ${code}: a limit of a space or of its plan is reached.`,
    }),
  ),
  {
    alert: 'MusterRateLimited',
    because: 'a caller is refused again and again',
    series: { [refusals('RATE_LIMITED')]: over(at(0, 10), rising(5, 5, 5), at(100, 50)) },
    fires: [15],
    silent: [9, 10.25, 21],
    labels: { code: 'RATE_LIMITED' },
    summary: '95 calls of five minutes were refused with RATE_LIMITED.',
  },
  {
    alert: 'MusterRateLimited',
    because: 'a caller was refused now and then',
    series: { [refusals('RATE_LIMITED')]: over(at(0, 10), at(4, 50)) },
    fires: [],
    silent: [11, 15],
    summary: '',
  },
  {
    alert: 'MusterRateNearlyUsed',
    because: 'a space uses its rate up, minute by minute',
    series: {
      'muster_rate_used_ratio{org="acme"}': over(
        at(0.2, 10),
        ...Array.from({ length: 10 }, () => '0.1 0.4 0.7 0.95'),
        at(0.2, 40),
      ),
      'muster_rate_used_ratio{org="b"}': at(0.5, 60),
    },
    fires: [16, 19],
    silent: [9, 14, 26],
    labels: { org: 'acme' },
    summary: 'A space of acme, or its organization, has used 95% of its requests in a minute.',
  },
  {
    alert: 'MusterWebhooksFail',
    because: 'a destination has failed for longer than ten minutes',
    series: { muster_failing_destination_seconds: bad(0, 700, 5) },
    fires: [11],
    silent: [9, 15.5],
    summary: 'A webhook destination has done nothing but fail for 11m 40s.',
  },
  {
    alert: 'MusterWebhooksLate',
    because: 'an event has waited for a destination for longer than an hour',
    series: { 'muster_destination_lag_seconds{org="acme",space="s",destination="d"}': bad(0, 4_000, 20) },
    fires: [16, 29],
    silent: [9, 14, 31],
    labels: { org: 'acme', space: 's', destination: 'd' },
    summary:
      'An event for webhook destination d of acme has waited for 1h 6m 40s: its page of the console, or POST /destinations/{id}/deliver, delivers all that waits.',
  },
  {
    alert: 'MusterWebhooksUndelivered',
    because: 'deliveries were given up',
    series: { 'muster_outbox{state="EXHAUSTED"}': over(at(2, 10), at(5, 90)) },
    fires: [11, 60],
    silent: [9, 75],
    summary: 'Webhook deliveries were given up after their last attempt, or because their destination is disabled.',
  },
  {
    alert: 'MusterOutboxBehind',
    because: 'events are not read for webhooks',
    series: { 'muster_outbox{state="UNREAD"}': bad(10, 20_000, 20) },
    fires: [21],
    silent: [19, 31],
    summary: '20000 events have not been read for webhooks yet.',
  },
  {
    alert: 'MusterPackingBehind',
    because: 'nothing is packed',
    series: { muster_pack_lag_seconds: bad(0, 4_000, 20) },
    fires: [21],
    silent: [19, 31],
    summary:
      'Events or finished messages are packed 1h 6m 40s late and take many times the memory until then: see the log of the workers.',
  },
  {
    alert: 'MusterSnapshotFails',
    because: 'the last one of a worker was refused',
    series: {
      'muster_snapshot_failing{instance="a"}': bad(0, 1, 5),
      'muster_snapshot_failing{instance="b"}': at(0, 30),
    },
    fires: [10.25, 14],
    silent: [9, 15.5],
    summary: 'A snapshot failed or was refused: the log of the workers says why.',
  },
  {
    alert: 'MusterSnapshotOld',
    because: 'no worker has made one for three intervals',
    series: {
      'muster_snapshot_age_seconds{instance="a"}': bad(60, 10_800, 10),
      'muster_snapshot_age_seconds{instance="b"}': at(20_000, 90),
      'muster_snapshot_interval_seconds{instance="a"}': at(3_600, 90),
      'muster_snapshot_interval_seconds{instance="b"}': at(3_600, 90),
    },
    fires: [16],
    silent: [9, 14, 20.5],
    summary: 'The newest snapshot is 3 intervals old.',
  },
  {
    alert: 'MusterEventLoopLag',
    because: 'a process is busy',
    series: {
      'nodejs_eventloop_lag_p99_seconds{instance="a"}': bad(0.01, 0.2, 10),
      'nodejs_eventloop_lag_p99_seconds{instance="b"}': at(0.01, 90),
    },
    fires: [16],
    silent: [14, 20.5],
    labels: { instance: 'a' },
    summary: 'a is busy: run more API processes.',
  },
];
