import pino from 'pino';
import { type MusterService, type ServiceOptions, startService } from '../../src/service.ts';
import { emptyStore } from '../redis/empty-store.ts';
import type { OwnStore } from '../support/own-store.ts';
import { readExposition, type Scrape } from './exposition.ts';

/** Services on a store that has nothing else. */
export class Metered {
  readonly store: OwnStore;
  readonly #services: MusterService[] = [];

  private constructor(store: OwnStore) {
    this.store = store;
  }

  static async start(store?: OwnStore): Promise<Metered> {
    return new Metered(store ?? (await emptyStore()));
  }

  /** By default, reads the store anew for each scrape. */
  async service(options: Partial<ServiceOptions> = {}): Promise<MusterService> {
    const log = pino({ level: 'silent' });
    const common = {
      redisUrl: this.store.url,
      role: 'all',
      host: '127.0.0.1',
      port: 0,
      log,
      sealAfterSeconds: 3600,
    } as const;
    const service = await startService({ ...common, metricsMaxAgeMs: 0, ...options });
    this.#services.push(service);
    return service;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#services.map((service) => service.stop()));
  }
}

/** GET /metrics, as a scraper reads it. */
export async function scrape(service: MusterService): Promise<Scrape> {
  const response = await fetch(`${service.metricsUrl}/metrics`);
  const type = response.headers.get('content-type');
  if (response.status !== 200 || type !== 'text/plain; version=0.0.4; charset=utf-8')
    throw new Error(`${response.status} ${type} ${await response.text()}`);
  return readExposition(await response.text());
}
