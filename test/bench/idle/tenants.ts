import { randomUUID } from 'node:crypto';
import { get } from 'node:http';
import { connect, type Store } from '../../../src/engine/redis/connection.ts';
import { Scripts } from '../../../src/engine/redis/scripts.ts';
import { createKey, createOrganization, createSpace } from '../../../src/primitives/org/admin.ts';
import { product } from '../../../src/primitives/primitives.ts';

/** Concurrent calls of `forEach`. */
const atOnce = 16;

/** An organization with one space and a key. */
class Tenant {
  /** For a client. */
  readonly access: { readonly spaceId: string; readonly key: string };
  readonly #path: string;
  readonly #apiKey: string;

  constructor(spaceId: string, apiKey: string) {
    this.access = { spaceId, key: apiKey };
    this.#path = `/v1/spaces/${spaceId}`;
    this.#apiKey = apiKey;
  }

  get headers(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${this.#apiKey}`, 'content-type': 'application/json' };
  }

  urlOf(url: string, path: string): string {
    return url + this.#path + path;
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
  async call(url: string, path: string, body?: object): Promise<any> {
    const headers = { ...this.headers, 'idempotency-key': randomUUID() };
    const request = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers };
    const response = await fetch(this.urlOf(url, path), request);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
    return JSON.parse(text);
  }

  /** Holds a watch for as long as this process lives. */
  watch(url: string, hear: (text: string) => void = () => undefined): Promise<void> {
    const headers = { ...this.headers, accept: 'text/event-stream' };
    return new Promise((resolve, reject) => {
      const request = get(this.urlOf(url, '/watch?cursor=latest'), { headers, agent: false }, (response) => {
        // It ends with the service.
        response
          .on('error', () => undefined)
          .setEncoding('utf8')
          .on('data', hear);
        if (response.statusCode === 200) resolve();
        else reject(new Error(`a watch was answered ${response.statusCode}`));
      });
      request.once('error', reject);
    });
  }
}

export type { Tenant };

/** Runs `work` for each item, `atOnce` at a time. */
export async function forEach<T>(list: readonly T[], work: (item: T, index: number) => Promise<unknown>) {
  for (let i = 0; i < list.length; i += atOnce)
    await Promise.all(list.slice(i, i + atOnce).map((item, n) => work(item, i + n)));
}

/** Creates this many organizations. */
export async function makeTenants(address: string, count: number): Promise<Tenant[]> {
  const store: Store = await connect(address);
  const admin = { store, scripts: new Scripts(store, product.words), limits: product.limits };
  const tenants: Tenant[] = [];
  await forEach(Array.from({ length: count }), async (_, n) => {
    const org = `bench-${n}`;
    await createOrganization(admin, { org, plan: 'enterprise' });
    const { spaceId } = await createSpace(admin, { org, limits: { requestsPerMinute: 100_000 } });
    const { apiKey } = await createKey(admin, {
      org,
      permissions: ['coordination_read', 'coordination_write', 'resource_config'],
    });
    tenants[n] = new Tenant(spaceId, apiKey);
  });
  store.disconnect();
  return tenants;
}
