import { fileURLToPath } from 'node:url';

/** The Grafana dashboard for operators: `npm run -s describe` writes it to docs/operate, ready to import. */
export const dashboardFile = fileURLToPath(new URL('../../../docs/operate/grafana-dashboard.json', import.meta.url));

/** PromQL by legend; a legend may be a label, `{{route}}`. */
type Queries = Record<string, string>;
type Panel = (id: number, x: number, y: number, width: number) => object;

const datasource = { type: 'prometheus', uid: 'muster' };
const height = 7;
const width = 24;
const instance = 'instance=~"$instance"';
const mappings = [
  { type: 'value', options: { '0': { text: 'no', color: 'red' }, '1': { text: 'yes', color: 'green' } } },
];

const panel =
  (type: string, title: string, unit: string, queries: Queries, more: object = {}, description?: string): Panel =>
  (id, x, y, w) => ({
    id,
    type,
    title,
    ...(description && { description }),
    datasource,
    gridPos: { x, y, w, h: height },
    fieldConfig: { defaults: { unit, min: 0, ...more }, overrides: [] },
    targets: Object.entries(queries).map(([legendFormat, expr], at) => ({
      refId: String.fromCharCode(65 + at),
      expr,
      legendFormat,
    })),
  });
const stat = (title: string, unit: string, query: string, more?: object) =>
  panel('stat', title, unit, { '': query }, more);
const series = (title: string, unit: string, queries: Queries, description?: string) =>
  panel('timeseries', title, unit, queries, {}, description);

const rate = (metric: string, labels = instance): string =>
  `rate(${metric}${labels && `{${labels}}`}[$__rate_interval])`;
const sumBy = (label: string, query: string): string => `sum by (${label}) (${query})`;
const quantile = (q: number, histogram: string, by = 'le', labels = instance): string =>
  `histogram_quantile(${q}, ${sumBy(by, rate(`${histogram}_bucket`, labels))})`;

const latency = 'muster_http_request_duration_seconds';
const notHeld = `route!~".*/(recv|watch)",${instance}`;
const script = 'muster_script_duration_seconds';

const rows: Record<string, Panel[]> = {
  Now: [
    stat('Processes', 'short', 'count(up{job="muster"} == 1)'),
    stat('Store takes calls', 'short', 'min(muster_store_up)', { mappings }),
    stat('Store writes to disk', 'short', 'min(muster_store_persisting)', { mappings }),
    stat('Oldest ready message', 's', 'max(muster_oldest_ready_age_seconds)'),
    stat('Timers overdue by', 's', 'max(muster_sweep_lag_seconds)'),
    stat('Memory of Redis', 'bytes', 'max(muster_store_memory_bytes)'),
  ],
  Requests: [
    series('Requests per second by route', 'reqps', {
      '{{route}}': sumBy('route', rate('muster_http_requests_total')),
    }),
    series('Requests per second by status', 'reqps', {
      '{{status}}': sumBy('status', rate('muster_http_requests_total')),
    }),
    series('Share of 5xx', 'percentunit', {
      share: `sum(${rate('muster_http_responses_total', `class="5xx",${instance}`)}) / sum(${rate('muster_http_responses_total')})`,
    }),
    series('Refusals per second by code', 'reqps', { '{{code}}': sumBy('code', rate('muster_refusals_total')) }),
    series('Highest share of a rate', 'percentunit', { share: 'max(muster_rate_used_ratio)' }),
  ],
  Latency: [
    series(
      'Latency, without receives and watches',
      's',
      Object.fromEntries([0.5, 0.95, 0.99].map((q) => [`p${q * 100}`, quantile(q, latency, 'le', notHeld)])),
      'A held receive or watch takes as long as it is held.',
    ),
    series('p99 by route', 's', { '{{route}}': quantile(0.99, latency, 'le, route', notHeld) }),
    series('Held requests', 'short', { '{{kind}}': sumBy('kind', `muster_held_requests{${instance}}`) }),
    series('Held receives by process', 'short', { '{{instance}}': `muster_held_requests{kind="receive",${instance}}` }),
  ],
  Scripts: [
    series('Scripts per second', 'ops', { '{{script}}': sumBy('script', rate(`${script}_count`)) }),
    series('Mean round trip by script', 's', {
      '{{script}}': `${sumBy('script', rate(`${script}_sum`))} / ${sumBy('script', rate(`${script}_count`))}`,
    }),
    series('p99 round trip by script', 's', { '{{script}}': quantile(0.99, script, 'le, script') }),
  ],
  Work: [
    series('Messages per minute', 'short', {
      '{{event}}': `60 * max by (event) (${rate('muster_messages_total', '')})`,
    }),
    series(
      'Share that failed, was rejected or expired',
      'percentunit',
      {
        share: `sum(max by (event) (${rate('muster_messages_total', 'event=~"failed|rejected|expired"')})) / sum(max by (event) (${rate('muster_messages_total', 'event=~"acked|failed|rejected|expired"')}))`,
      },
      'Of the messages that ended.',
    ),
    series(
      'Ready until claimed',
      's',
      Object.fromEntries([0.5, 0.95, 0.99].map((q) => [`p${q * 100}`, quantile(q, 'muster_message_wait_seconds')])),
    ),
    series('Claimed until ended, p95', 's', {
      '{{outcome}}': quantile(0.95, 'muster_message_run_seconds', 'le, outcome'),
    }),
  ],
  'Work that waits': [
    series('Messages', 'short', {
      '{{state}}': 'max by (state) (muster_messages)',
      waiters: 'max(muster_waiters)',
      'waiting holds': 'max(muster_holds{state="WAITING"})',
      timers: 'max(muster_timers)',
      schedules: 'max(muster_schedules{state="ACTIVE"})',
    }),
    series('Oldest', 's', {
      'ready message': 'max(muster_oldest_ready_age_seconds)',
      claim: 'max(muster_oldest_claim_age_seconds)',
      waiter: 'max(muster_oldest_waiter_age_seconds)',
      'overdue timer': 'max(muster_sweep_lag_seconds)',
      'overdue schedule': 'max(muster_schedule_lag_seconds)',
      'round of the workers': 'max(muster_worker_lag_seconds)',
      'oldest to pack': 'max(muster_pack_lag_seconds)',
    }),
    series('Webhook outbox', 'short', { '{{state}}': 'max by (state) (muster_outbox)' }),
    series('Webhook destination fails since', 's', { longest: 'max(muster_failing_destination_seconds)' }),
    series('Webhook destinations behind', 's', {
      '{{org}} {{destination}}': 'max by (org, destination) (muster_destination_lag_seconds)',
    }),
    series('Events for webhook destinations behind', 'short', {
      '{{org}} {{destination}} waiting': 'max by (org, destination) (muster_destination_waiting)',
      '{{org}} {{destination}} unread': 'max by (org, destination) (muster_destination_unread)',
    }),
    series('Failed, requeued, cancelled and overdrawn per second', 'cps', {
      '{{type}}': `max by (type) (${rate('muster_events_total', '')})`,
    }),
  ],
  Redis: [
    series('Commands per second', 'ops', { commands: `max(${rate('muster_store_commands_total', '')})` }),
    series('Memory', 'bytes', {
      used: 'max(muster_store_memory_bytes)',
      'retained by spaces': 'max(muster_retained_bytes)',
    }),
    series('Newest snapshot', 's', {
      age: 'min(muster_snapshot_age_seconds)',
      interval: 'min(muster_snapshot_interval_seconds)',
    }),
    series('Connections', 'short', { connections: 'max(muster_store_clients)', servers: 'max(muster_store_masters)' }),
  ],
  Processes: [
    series('Event loop lag, p99', 's', { '{{instance}}': `nodejs_eventloop_lag_p99_seconds{${instance}}` }),
    series('CPU', 'percentunit', { '{{instance}}': rate('process_cpu_seconds_total') }),
    series('Resident memory', 'bytes', { '{{instance}}': `process_resident_memory_bytes{${instance}}` }),
  ],
};

/** The dashboard's JSON: a row for each topic, with panels of equal width. */
export function dashboard(): string {
  let id = 0;
  const panels = Object.entries(rows).flatMap(([title, made], at) => {
    const y = at * (height + 1);
    const share = width / made.length;
    const row = { id: ++id, type: 'row', title, collapsed: false, gridPos: { x: 0, y, w: width, h: 1 }, panels: [] };
    return [row, ...made.map((one, index) => one(++id, index * share, y + 1, share))];
  });
  const variable = {
    name: 'instance',
    label: 'Process',
    type: 'query',
    datasource,
    query: { query: 'label_values(muster_info, instance)', refId: 'instance' },
    refresh: 2,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
  };
  const head = { uid: 'muster', title: 'Muster', tags: ['muster'], timezone: 'browser', schemaVersion: 39, version: 1 };
  const times = { editable: true, refresh: '30s', time: { from: 'now-1h', to: 'now' } };
  const made = { ...head, ...times, templating: { list: [variable] }, annotations: { list: [] }, panels };
  return `${JSON.stringify(made, null, 1)}\n`;
}
