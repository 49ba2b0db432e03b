import { collectDefaultMetrics, Registry } from 'prom-client';
import { version } from '../../package.ts';
import { scraped } from './scraped.ts';
import { storeMetrics } from './store-metrics.ts';
import type { StoreReader } from './store-reading.ts';
import { Traffic } from './traffic.ts';

interface MetricsParts {
  readonly role: string;
  readonly reader: StoreReader;
  /** Whether only operators can read them, so that they may name organizations. */
  readonly isPrivate: boolean;
  /** How old the response may be. */
  readonly maxAgeMs: number;
  /** The codes of the errors that it may answer with. */
  readonly refusals: readonly string[];
  /** How many requests this process is holding. */
  readonly held: { readonly receives: () => number; readonly reads: () => number; readonly watches: () => number };
}

/** The response to GET /metrics. */
export class Metrics {
  static readonly contentType: string = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly traffic: Traffic;
  readonly maxAgeMs: number;
  readonly #registry = new Registry();

  constructor({ role, reader, isPrivate, maxAgeMs, refusals, held }: MetricsParts) {
    this.traffic = new Traffic(refusals);
    this.maxAgeMs = maxAgeMs;
    const metrics = [
      scraped('gauge', 'muster_info', 'Always 1', () => [{ labels: { version, role }, value: 1 }]),
      ...this.traffic.metrics(),
      scraped(
        'gauge',
        'muster_held_requests',
        'Receives, waiting reads and watches that this process is holding',
        () => [
          { labels: { kind: 'receive' }, value: held.receives() },
          { labels: { kind: 'read' }, value: held.reads() },
          { labels: { kind: 'watch' }, value: held.watches() },
        ],
      ),
      ...storeMetrics(() => reader.read(), reader.events, isPrivate),
    ];
    for (const metric of metrics) this.#registry.registerMetric(metric);
  }

  /** In the Prometheus text format. */
  async text(): Promise<string> {
    return `${await this.#registry.metrics()}\n${await processMetrics().metrics()}`;
  }
}

let registry: Registry | undefined;

/**
 * CPU, memory, garbage collection and event loop lag, shared by all services of the process. Created at the first scrape,
 * because measuring the lag takes 0.4 % of a core.
 */
function processMetrics(): Registry {
  if (!registry) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
    // These gauges have names of counters, and read Node's internals.
    for (const kind of ['resources', 'handles', 'requests'])
      for (const suffix of ['', '_total']) registry.removeSingleMetric(`nodejs_active_${kind}${suffix}`);
  }
  return registry;
}
