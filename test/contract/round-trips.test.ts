import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pino from 'pino';
import type { Route } from '../../src/http/route.ts';
import { allRoutes } from '../../src/primitives.ts';
import { type MusterService, startService } from '../../src/service.ts';
import { makeObjects, type Objects, requestOf } from '../attack/support/objects.ts';
import { Commands } from '../support/commands.ts';
import { OwnStore } from '../support/own-store.ts';
import { Sink } from '../support/sink.ts';
import { delivering } from '../support/webhooks.ts';
import { World } from '../support/world.ts';

/**
 * Routes that need more, and why. What is due is swept first, by a run of its own, and the call then made again; a held
 * request looks again when it is woken, a watch that filters reads five pages at most: that is not of these requests.
 */
const more: Readonly<Record<string, readonly string[]>> = {
  // The name is looked up in the DNS between the two; then the workers' index of spaces with webhooks is told.
  'destination.create': ['FCALL webhook_create', 'FCALL webhook_create', 'SADD muster:outbox'],
  'destination.update': ['FCALL webhook_update', 'FCALL webhook_update'],
  // The attempt, over the network, is between the two.
  'destination.test': ['FCALL webhook_send', 'FCALL webhook_send'],
  'delivery.redeliver': ['FCALL webhook_send', 'FCALL webhook_send'],
};
/** After the answer: a timer that is the organization's earliest is told to the workers' index. */
const told = 'ZADD muster:due';

describe('One request, one round trip to the store', () => {
  let own: OwnStore;
  let sink: Sink;
  let service: MusterService;
  let commands: Commands;
  let world: World;
  let objects: Objects;

  before(async () => {
    own = await OwnStore.start();
    sink = await Sink.start();
    const worker = await delivering({ redisUrl: own.url });
    const { org, spaceId, apiKey } = await World.create({ on: worker });
    objects = await makeObjects(new World(worker, org, spaceId, apiKey), sink);
    await worker.stop();
    // From here on an API alone: no worker looks for what it has to do.
    const log = pino({ level: 'silent' });
    const rest = { host: '127.0.0.1', port: 0, webhookAllowPrivate: true };
    service = await startService({ redisUrl: own.url, role: 'api', log, ...rest });
    await service.scripts.load();
    world = new World(service, org, spaceId, apiKey);
    commands = await Commands.hear(service.store);
  });
  after(async () => {
    commands.stop();
    await service.stop();
    await sink.stop();
    await own.stop();
  });

  /** The status of a request, and what the service sent to the store for it: commands and what they name. */
  async function sentFor(route: Route, headers: Record<string, string> = {}): Promise<[number, string[]]> {
    const { path, body } = requestOf(route, { ...objects, url: `${sink.url}/${route.call}` });
    const all = { Authorization: `Bearer ${world.apiKey}`, 'Idempotency-Key': randomUUID(), ...headers };
    const typed = { 'Content-Type': 'application/json', ...all };
    const { status } = await world.send(route.method, `/v1/spaces/${world.spaceId}${path}`, body, typed);
    await service.due.told();
    const sent = await commands.take();
    for (const { words, inside } of sent.filter(({ words }) => words[0] === 'FCALL'))
      expect(inside.filter(([name]) => name === 'TIME').length, `${words[1]} reads the clock`).to.equal(1);
    return [
      status,
      sent.map(({ words }) =>
        words
          .slice(0, 2)
          .join(' ')
          .replace(/_[0-9a-f]{8}$/, ''),
      ),
    ];
  }

  it('and one look at its clock, whether it is done, refused or replayed, on every route; those that need more are named with their reason', async () => {
    const isLast = (route: Route): number => Number(route.method === 'DELETE');
    const needed: Record<string, readonly string[]> = {};
    for (const route of allRoutes.toSorted((one, next) => isLast(one) - isLast(next))) {
      const once = [`FCALL ${route.script.replace('/', '_')}`];
      const key = { 'Idempotency-Key': randomUUID() };
      for (const headers of [key, key, {}]) {
        const [status, sent] = await sentFor(route, headers);
        const trips = sent.filter((text) => text !== told);
        if (status < 300 && trips.length > 1) needed[route.call] = trips;
        else expect(trips, `${route.call} ${status}`).to.deep.equal(once);
      }
      const [status, trips] = await sentFor(route, { Authorization: `Bearer mk_${world.org}_${'x'.repeat(43)}` });
      expect([status, trips], route.call).to.deep.equal([401, once]);
    }
    expect(needed).to.deep.equal(more);
  });
});
