import pino from 'pino';
import { type MusterService, type ServiceOptions, startService } from '../../src/service.ts';
import { until } from './processes.ts';
import { Sink } from './sink.ts';
import { redisUrl } from './store.ts';
import { overrides, type Reply, World } from './world.ts';

/** API and workers on the test clock, allowed to deliver to a test's receiver. */
export async function delivering(options: Partial<ServiceOptions> = {}): Promise<MusterService> {
  return startService({
    redisUrl: options.redisUrl ?? (await redisUrl()),
    role: 'all',
    host: '127.0.0.1',
    port: 0,
    log: pino({ level: 'silent' }),
    overrides,
    webhookAllowPrivate: true,
    ...options,
  });
}

/** For the tests of a block: a service that delivers, and a receiver for each test. */
export class Deliveries {
  service!: MusterService;
  sink!: Sink;

  constructor() {
    before(async () => {
      this.service = await delivering();
    });
    after(() => this.service.stop());
    beforeEach(async () => {
      this.sink = await Sink.start();
    });
    afterEach(() => this.sink.stop());
  }

  ready = () => World.create({ on: this.service });

  register = (world: World, eventTypes: string[] = [], path = '/') =>
    world.mustPost('/destinations', { url: `${this.sink.url}${path}`, eventTypes });

  happen = (world: World) => world.mustPost('/mailboxes', { name: 'jobs' });

  /** Sets the receiver's answer from now on. */
  status = (code: number, headers: Record<string, string> = {}): void => {
    this.sink.answer = (response) => response.writeHead(code, headers).end();
  };

  poke = (world: World) => this.service.deliverer?.poke(world.org, world.spaceId);
}

interface Row {
  id: string;
  eventId: string;
  eventType: string;
  destinationId: string;
  attempt: number;
  state: string;
  trigger: string;
  responseStatus: number | null;
  errorCode: string | null;
  attemptedAt: string;
  nextAttemptAt: string | null;
}

const look = (world: World, query: string) => world.get(`/deliveries?limit=200${query}`);

function rowsOf({ status, body, text }: Reply): Row[] {
  if (status !== 200) throw new Error(`deliveries: ${status} ${text}`);
  return body.deliveries;
}

/** Attempts so far, newest first. */
export const rows = async (world: World, query = ''): Promise<Row[]> => rowsOf(await look(world, query));

/** Resolves when there are at least this many rows. */
export async function untilRows(world: World, count: number, query = ''): Promise<Row[]> {
  let found: Row[] = [];
  await until(async () => {
    const reply = await look(world, query);
    // On a busy machine, the store may be too slow for a request.
    found = reply.status === 503 ? [] : rowsOf(reply);
    return found.length >= count;
  });
  return found;
}
