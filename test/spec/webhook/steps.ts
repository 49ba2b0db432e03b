import { World } from '../../support/world.ts';

/** The outcome of an attempt; a success by default. */
const delivered = { responseStatus: '204', errorCode: '', durationMs: 10, pauseMs: 0, scale: 1 };

/**
 * A space with destinations to which no worker delivers: the tests run the workers' steps themselves, by their scripts.
 */
export class Outbox {
  readonly world: World;
  /** The organization's clock at the beginning. */
  readonly start: number;

  private constructor(world: World, start: number) {
    this.world = world;
    this.start = start;
  }

  static async create(): Promise<Outbox> {
    const world = await World.create();
    const start = Date.now();
    await world.at(start);
    return new Outbox(world, start);
  }

  async register(eventTypes: string[] = []): Promise<string> {
    const { id } = await this.world.mustPost('/destinations', { url: 'https://127.0.0.1:9/', eventTypes });
    // The workers of later tests find it, too: nothing answers them there.
    await this.world.service.store.hset(this.key(id), 'url', 'http://127.0.0.1:1/');
    return id;
  }

  key(destinationId: string): string {
    return `${this.world.prefix}:destination:${destinationId}`;
  }

  async happen(times = 1): Promise<void> {
    for (let i = 0; i < times; i++) await this.world.mustPost('/mailboxes', { name: 'jobs' });
  }

  async counts(): Promise<Record<string, number>> {
    return (await this.world.get('/backlog')).body.outbox;
  }

  async dispatch(maxEntries = 10) {
    const [more, attempts, nextInMs] = await this.#run('dispatch', { maxEntries, opened: '' });
    return { more, attempts: attempts as string[][], nextInMs };
  }

  /** Resolves with the time at which the attempt began; undefined if there is nothing to do. */
  async begin(destinationId: string, entryId: string): Promise<unknown> {
    return (await this.#run('begin', { destinationId, entryId, opened: '' }))[0];
  }

  async finish(
    destinationId: string,
    entryId: string,
    attempt: number,
    attemptedAt: unknown,
    outcome: Partial<typeof delivered> = {},
  ): Promise<void> {
    const of = { destinationId, entryId, eventType: 'mailbox.created', attempt, attemptedAt: String(attemptedAt) };
    await this.#run('finish', { ...of, ...delivered, ...outcome });
  }

  #run(name: string, args: Record<string, string | number>) {
    const { service, org, spaceId } = this.world;
    return service.scripts.execute(`webhook/${name}`, org, { spaceId, requestId: '', ...args });
  }
}

/** One event to deliver to one destination, and the steps of its workers. */
export async function oneToGet() {
  const outbox = await Outbox.create();
  await outbox.register();
  await outbox.happen();
  const { attempts } = await outbox.dispatch();
  const [[destinationId = '', entryId = ''] = []] = attempts;
  return {
    ...{ outbox, world: outbox.world, start: outbox.start, destinationId, entryId },
    begin: () => outbox.begin(destinationId, entryId),
    finish: (attempt: number, attemptedAt: unknown, outcome?: Partial<typeof delivered>) =>
      outbox.finish(destinationId, entryId, attempt, attemptedAt, outcome),
  };
}
