import type { MusterService } from '../../../src/service.ts';
import { Sink } from '../../support/sink.ts';
import { delivering } from '../../support/webhooks.ts';
import { World } from '../../support/world.ts';
import { makeObjects, type Objects } from './objects.ts';

/** A space, another of its organization, and one of another organization, each with an object of every kind. */
export interface Tenants {
  readonly service: MusterService;
  readonly sink: Sink;
  readonly world: World;
  readonly other: World;
  readonly sibling: World;
  readonly objects: Objects;
  readonly others: Objects;
  readonly siblings: Objects;
  stop(): Promise<void>;
}

export async function startTenants(): Promise<Tenants> {
  const sink = await Sink.start();
  const service = await delivering();
  const world = await World.create({ on: service });
  const other = await World.create({ on: service });
  const sibling = await world.anotherSpace({ requestsPerMinute: 100_000 });
  return {
    ...{ service, sink, world, other, sibling },
    objects: await makeObjects(world, sink),
    others: await makeObjects(other, sink),
    siblings: await makeObjects(sibling, sink),
    stop: async () => {
      await service.stop();
      await sink.stop();
    },
  };
}
