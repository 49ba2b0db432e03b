import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedRedis, startEmbedded } from '../../src/embedded/embedded.ts';
import { connect, type Store } from '../../src/engine/redis/connection.ts';
import { Scripts } from '../../src/engine/redis/scripts.ts';
import type { Admin } from '../../src/primitives/org/admin.ts';
import { product } from '../../src/primitives/primitives.ts';

/** An embedded store for one test file that needs an empty store or looks at all of it. */
export class OwnStore {
  readonly dataDir: string;
  readonly #redis: EmbeddedRedis;
  readonly #connections: Store[] = [];

  private constructor(dataDir: string, redis: EmbeddedRedis) {
    this.dataDir = dataDir;
    this.#redis = redis;
  }

  static async start(): Promise<OwnStore> {
    const dataDir = await mkdtemp(join(tmpdir(), 'muster-own-'));
    return new OwnStore(dataDir, await startEmbedded({ dataDir, log: () => undefined }));
  }

  get url(): string {
    return this.#redis.socketPath;
  }

  /** A new connection each time, as each process has its own. */
  async admin(): Promise<Admin> {
    const store = await connect(this.url);
    this.#connections.push(store);
    return { store, scripts: new Scripts(store, product.words), limits: product.limits };
  }

  async stop(): Promise<void> {
    for (const store of this.#connections) store.disconnect();
    await this.#redis.stop();
    await rm(this.dataDir, { recursive: true, force: true });
  }
}

/** The code of a promise's rejection; throws if it does not reject. */
export async function rejectionOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
  throw new Error('it was not refused');
}
