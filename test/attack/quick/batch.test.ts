import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { isBatched } from '../../../src/engine/route/batch-route.ts';
import { allowedBy } from '../../../src/engine/route/caller.ts';
import { pathNames, type Route } from '../../../src/engine/route/route.ts';
import { allRoutes } from '../../../src/primitives/primitives.ts';
import { allPermissions, type World } from '../../support/world.ts';
import { changed, digests } from '../support/digest.ts';
import { isOfMailboxes, namesHolder } from '../support/limited.ts';
import { fieldsOf, isOfNotes, makeObjects, type Objects, objectIn, requestOf } from '../support/objects.ts';
import { startTenants, type Tenants } from '../support/tenants.ts';

const routes = allRoutes
  .filter(isBatched)
  .toSorted((one, next) => Number(one.method === 'DELETE') - Number(next.method === 'DELETE'));

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** A call of a batch that sends what the route's single request sends. */
const callOf = (route: Route, objects: Objects) => ({ call: route.call, ...fieldsOf(route, objects) });

/** An answer without the parts that differ between requests. */
const textOf = ({ status, body }: Answer): string =>
  `${status} ${JSON.stringify(body ?? null).replace(/"requestId":"[^"]*"/, '')}`.replaceAll(
    /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
    'id',
  );

/** The names of an answer's members, at every level; lists by their first element. */
const shape = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, 1).map(shape);
  if (typeof value !== 'object' || value === null) return '';
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shape(member)]));
};

describe('Every call in a batch', () => {
  let tenants: Tenants;
  let world: World;
  let other: World;
  let objects: Objects;
  let twin: Objects;
  let others: Objects;
  let siblings: Objects;

  before(async () => {
    tenants = await startTenants();
    ({ world, other, objects, others, siblings } = tenants);
    twin = await makeObjects(world, tenants.sink);
  });
  after(() => tenants.stop());

  const asRequest = async (route: Route, objects: Objects, key = world.apiKey): Promise<Answer> => {
    const { path, body } = requestOf(route, objects);
    return world.send(route.method, `/v1/spaces/${world.spaceId}${path}`, body, {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': randomUUID(),
    });
  };
  const asBatch = async (calls: readonly object[], key = world.apiKey): Promise<Answer[]> => {
    const { body } = await world.post('/batch', { calls }, { Authorization: `Bearer ${key}` });
    return body.results;
  };

  it('is refused like its single request without the permission, without required fields and with an unknown one', async () => {
    const before = await digests(other);
    for (const permission of allPermissions) {
      const key = await world.key(allPermissions.filter((one) => !allowedBy(permission).includes(one)));
      const denied = routes.filter((route) => route.permission === permission);
      const results =
        denied.length > 0
          ? await asBatch(
              denied.map((route) => callOf(route, objects)),
              key,
            )
          : [];
      for (const [index, route] of denied.entries())
        expect(textOf(results[index] as Answer), route.call).to.equal(textOf(await asRequest(route, objects, key)));
    }
    const bare = await asBatch(routes.map(({ call }) => ({ call })));
    const wrong = await asBatch(routes.map((route) => ({ ...callOf(route, objects), colour: 'red' })));
    for (const [index, route] of routes.entries()) {
      if (route.path.includes(':') || route.body?.validate({}).error)
        expect(textOf(bare[index] as Answer), route.call).to.match(/^400 .*VALIDATION_FAILED/);
      expect(textOf(wrong[index] as Answer), route.call).to.match(/^400 .*colour is not a field of this request/);
    }
    expect(changed(before, await digests(other))).to.deep.equal([]);
  });

  it('is refused like its single request to a key with limits', async () => {
    const { id } = await world.mustPost('/mailboxes', { name: 'apart' });
    const before = await digests(world);
    for (const [limits, isRefused] of [
      [{ mailboxes: [id] }, isOfMailboxes],
      [{ holder: 'apart' }, namesHolder],
    ] as const) {
      const key = await world.key(allPermissions, undefined, limits);
      const denied = routes.filter((route) => isRefused(route, objects));
      const results = await asBatch(
        denied.map((route) => callOf(route, objects)),
        key,
      );
      for (const [index, route] of denied.entries()) {
        const alone = textOf(await asRequest(route, objects, key));
        expect(alone, route.call).to.match(/^403 .*PERMISSION_DENIED/);
        expect(textOf(results[index] as Answer), route.call).to.equal(alone);
      }
    }
    const ofKeys = /:(key:|keys$|keyIds$|endingKeys$|audit$)/;
    const after = await digests(world);
    const isOfKeys = (name: string): boolean => ofKeys.test(name) || name === `muster:{${world.org}}`;
    expect(changed(before, after).filter((name) => !isOfKeys(name))).to.deep.equal([]);
  });

  it('finds no object of another organization or space, and answers as for unknown ids', async () => {
    let cases = 0;
    for (const route of routes.filter((one) => !isOfNotes(one))) {
      for (const name of pathNames(route)) {
        const field = objectIn(route.call, name);
        const [unknown, theirs, ofSibling] = await asBatch(
          [randomUUID(), others[field], siblings[field]].map((id) => ({ ...callOf(route, objects), [name]: id })),
        );
        expect(textOf(unknown as Answer), route.call).to.match(/^404 /);
        for (const reply of [theirs, ofSibling])
          expect(textOf(reply as Answer), route.call).to.equal(textOf(unknown as Answer));
        cases++;
      }
    }
    expect(cases).to.be.at.least(25);
  });

  it('answers like its single request, and has the same effect', async () => {
    const named = (objects: Objects): Objects => ({ ...objects, name: randomUUID(), taskKey: randomUUID() });
    const results = await asBatch(routes.map((route) => callOf(route, named(twin))));
    for (const [index, route] of routes.entries()) {
      const alone = await asRequest(route, named(objects));
      const { status, body } = results[index] as Answer;
      expect([status, shape(body)], route.call).to.deep.equal([alone.status, shape(alone.body ?? null)]);
    }
    expect(results.filter(({ status }) => status < 300).length).to.be.at.least(30);
  });
});
