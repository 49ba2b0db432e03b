import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { processMetrics } from './process-metrics.ts';
import { scraped } from './scraped.ts';
import { storeMetrics } from './store-metrics.ts';
import type { StoreReader } from './store-reading.ts';
import { Traffic } from './traffic.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

interface MetricsParts {
  readonly role: string;
  readonly reader: StoreReader;
  /** How many requests this process holds now. */
  readonly held: { readonly receives: () => number; readonly reads: () => number; readonly watches: () => number };
}

/** What GET /metrics answers. */
export class Metrics {
  static readonly contentType: string = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly traffic = new Traffic();
  readonly #registry = new Registry();

  constructor({ role, reader, held }: MetricsParts) {
    const own = [
      scraped('gauge', 'muster_info', 'Always 1', () => [{ labels: { version, role }, value: 1 }]),
      ...this.traffic.metrics(),
      scraped(
        'gauge',
        'muster_held_requests',
        'Receives, reads that wait, and watches that this process holds now',
        () => [
          { labels: { kind: 'receive' }, value: held.receives() },
          { labels: { kind: 'read' }, value: held.reads() },
          { labels: { kind: 'watch' }, value: held.watches() },
        ],
      ),
      ...storeMetrics(() => reader.read()),
    ];
    for (const metric of own) this.#registry.registerMetric(metric);
  }

  /** In the Prometheus text format. */
  async text(): Promise<string> {
    return `${await this.#registry.metrics()}\n${await processMetrics().metrics()}`;
  }
}
