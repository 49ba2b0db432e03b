import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import pino from 'pino';
import { createKey, createOrganization, createSpace } from '../../../src/primitives/org/admin.ts';
import { startService } from '../../../src/service.ts';
import { expectAgreement } from '../../support/agree.ts';
import { maximumLimits } from '../../support/limits.ts';
import { OwnStore } from '../../support/own-store.ts';
import { type Access, call, type MusterProcess, Processes, until } from '../../support/processes.ts';
import { allPermissions, World } from '../../support/world.ts';

/** A store of its own, on which processes are started and killed. */
export class Killing {
  readonly redis: Redis;
  readonly access: Access;
  readonly #store: OwnStore;
  readonly #books: World;
  readonly #processes = new Processes();

  private constructor(store: OwnStore, redis: Redis, books: World) {
    this.#store = store;
    this.redis = redis;
    this.#books = books;
    this.access = { spaceId: books.spaceId, apiKey: books.apiKey };
  }

  static async create(): Promise<Killing> {
    const store = await OwnStore.start();
    const admin = await store.admin();
    await createOrganization(admin, { org: 'kill', plan: 'enterprise' });
    const { spaceId } = await createSpace(admin, { org: 'kill', limits: maximumLimits });
    const { apiKey } = await createKey(admin, { org: 'kill', permissions: allPermissions });
    const log = pino({ level: 'silent' });
    const looking = await startService({ redisUrl: store.url, role: 'api', host: '127.0.0.1', port: 0, log });
    return new Killing(store, admin.store as Redis, new World(looking, 'kill', spaceId, apiKey));
  }

  start(ROLE = 'all'): Promise<MusterProcess> {
    return this.#processes.start({ REDIS_URL: this.#store.url, DATA_DIR: this.#store.dataDir, ROLE }).ready();
  }

  async end(): Promise<void> {
    await this.#processes.clear();
    await this.#books.service.stop();
    await this.#store.stop();
  }

  /** Whether a client is blocked, also one that is about to run the next script of a sweep. */
  async isHeldUp(): Promise<boolean> {
    return / flags=b\S* .* cmd=(fcall|zadd|zrem|eval|evalsha) /.test((await this.redis.client('LIST')) as string);
  }

  async #isBlocked(): Promise<boolean> {
    return / flags=b\S* .* cmd=fcall /.test((await this.redis.client('LIST')) as string);
  }

  /** Kills the process when its script call has reached Redis: before the script runs, or before its reply is read. */
  async killAround(muster: MusterProcess, moment: 'before' | 'after', request: () => Promise<unknown>): Promise<void> {
    await this.redis.client('PAUSE', 30_000, 'WRITE');
    const lost = request().then(
      () => 'answered',
      () => 'lost',
    );
    await until(() => this.#isBlocked());
    if (moment === 'before') await muster.end('SIGKILL');
    else muster.signal('SIGSTOP');
    // Calls of its workers wait too, and are lost with it as well.
    await this.redis.client('UNPAUSE');
    await until(async () => !(await this.#isBlocked()));
    if (moment === 'after') await muster.end('SIGKILL');
    expect(await lost).to.equal('lost');
  }

  /** Compares all counters and indexes with a recount, through an API in this process. */
  expectBooks(): Promise<number> {
    return expectAgreement(this.#books);
  }

  /** Sends equal messages, many in a request. */
  async sendMany(url: string, mailboxId: string, count: number, fields: object): Promise<void> {
    const one = () => ({ call: 'message.send', mailboxId, payload: 1, ...fields, idempotencyKey: randomUUID() });
    for (let left = count; left > 0; left -= 100) {
      const calls = Array.from({ length: Math.min(left, 100) }, one);
      const { body } = await call(url, this.access, '/batch', { calls });
      for (const { status } of body.results) expect(status).to.equal(201);
    }
  }
}
