import pino from 'pino';
import { type MusterService, type ServiceOptions, startService } from '../../src/service.ts';
import { clockFile, redisUrl, type World } from './world.ts';

/** API and workers on the test clock, allowed to deliver to a test's receiver. */
export async function delivering(options: Partial<ServiceOptions> = {}): Promise<MusterService> {
  return startService({
    redisUrl: options.redisUrl ?? (await redisUrl()),
    role: 'all',
    host: '127.0.0.1',
    port: 0,
    log: pino({ level: 'silent' }),
    overrides: { 'lib/clock': clockFile },
    webhookAllowPrivate: true,
    ...options,
  });
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

/** Attempts so far, newest first. */
export async function rows(world: World, query = ''): Promise<Row[]> {
  return (await world.get(`/deliveries?limit=200${query}`)).body.deliveries;
}

/** Resolves when there are so many rows. */
export async function untilRows(world: World, count: number, query = ''): Promise<Row[]> {
  for (;;) {
    const found = await rows(world, query);
    if (found.length >= count) return found;
    await new Promise(setImmediate);
  }
}
