import { setTimeout as sleep } from 'node:timers/promises';
import { awaitStore } from '../../src/embedded/await-store.ts';
import { startEmbedded } from '../../src/embedded/embedded.ts';
import { isAlive, pidOf } from '../../src/embedded/process-identity.ts';
import { readRecord } from '../../src/embedded/store-folder.ts';
import { RedisServer } from './redis-server.ts';

/** The Redis that Muster's own processes start in a folder, and start again when a test kills it. */
export class EmbeddedServer extends RedisServer {
  constructor(dir: string) {
    super(dir, 0, {});
  }

  override get url(): string {
    return `${this.dir}/redis.sock`;
  }

  /**
   * Resolves when one of those processes has started it. From then on it loses no acknowledged write, however slow the
   * disk.
   */
  override async start(): Promise<this> {
    await awaitStore(this.url, { log: () => undefined, signal: new AbortController().signal });
    await this.link.config('SET', 'appendfsync', 'always');
    return this;
  }

  override async kill(): Promise<void> {
    const server = (await readRecord(this.dir))?.server;
    if (!server || !isAlive(server)) return;
    process.kill(pidOf(server), 'SIGKILL');
    while (isAlive(server)) await sleep(1);
  }

  override async stop(): Promise<void> {
    this.link.disconnect();
    await (await startEmbedded({ dataDir: this.dir, log: () => undefined })).stop();
  }
}
