import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { allowedBy } from '../../../src/engine/route/caller.ts';
import type { Route } from '../../../src/engine/route/route.ts';
import { statusOf } from '../../../src/engine/route/route-errors.ts';
import { createKey, revokeKey } from '../../../src/primitives/org/admin.ts';
import { allErrors, allRoutes } from '../../../src/primitives/primitives.ts';
import { allPermissions, codeOf, type Reply, type World } from '../../support/world.ts';
import { changed, digests } from '../support/digest.ts';
import { isOfMailboxes, mailboxesOf, namesHolder } from '../support/limited.ts';
import { isOfNotes, type Objects, objectIn, requestOf } from '../support/objects.ts';
import { startTenants, type Tenants } from '../support/tenants.ts';

/** Ids in bodies that must name an existing object. */
const bodyIds: Readonly<Record<string, readonly string[]>> = {
  'group.create': ['mailboxId'],
  'message.complete': ['mailboxId'],
  'group.join': ['taskId'],
  'budget.settle': ['reservationId'],
  'budget.void': ['reservationId'],
};
/** Queries that name an object. */
const queries: readonly [path: string, name: string, code: string][] = [
  ['/mailboxes/:mailboxId/messages?scopeId=', 'scopeId', '200'],
  ['/watch?scopeId=', 'scopeId', '200'],
  ['/watch?aggregate=budget:', 'budgetId', '200'],
  ['/deliveries?destinationId=', 'destinationId', '200'],
];

const lastOfAll = (route: Route): number => (route.method === 'DELETE' ? 1 : 0);

describe('Every route for every kind of caller', () => {
  let tenants: Tenants;
  let world: World;
  let other: World;
  let sibling: World;
  let objects: Objects;
  let others: Objects;
  let siblings: Objects;

  before(async () => {
    tenants = await startTenants();
    ({ world, other, sibling, objects, others, siblings } = tenants);
  });
  after(() => tenants.stop());

  /** Sends a request that the route accepts, with these objects in it. */
  function ask(
    route: Route,
    objects: Objects,
    by: { key?: string | undefined; spaceId?: string } = {},
  ): Promise<Reply> {
    const { path, body } = requestOf(route, objects);
    const headers: Record<string, string> = { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() };
    const { key = world.apiKey, spaceId = world.spaceId } = by;
    if (!('key' in by) || by.key !== undefined) headers['Authorization'] = `Bearer ${key}`;
    return world.send(route.method, `/v1/spaces/${spaceId}${path}`, body, headers);
  }

  /** Runs a test for every route, and expects that it changes nothing that any organization keeps. */
  async function everywhere(test: (route: Route) => Promise<void>): Promise<void> {
    const before = [await digests(world), await digests(other)] as const;
    for (const route of allRoutes) await test(route);
    expect(changed(before[0], await digests(world))).to.deep.equal([]);
    expect(changed(before[1], await digests(other))).to.deep.equal([]);
  }
  const textOf = ({ status, text }: Reply): string =>
    `${status} ${text.replace(/"requestId":"[^"]*"/, '')}`.replaceAll(
      /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
      'id',
    );

  it('a call without a key is UNAUTHENTICATED; unknown, revoked and foreign keys are INVALID_API_KEY alike', async () => {
    const revoked = await createKey(tenants.service, { org: world.org, permissions: allPermissions });
    await revokeKey(tenants.service, world.org, revoked.keyId);
    // Of other forms: test/http/access.test.ts.
    const wrong = [revoked.apiKey, `mk_${world.org}_${'a'.repeat(43)}`, world.apiKey.replace(world.org, other.org)];
    await everywhere(async (route) => {
      expect(codeOf(await ask(route, objects, { key: undefined })), route.call).to.equal('401 UNAUTHENTICATED');
      const answers = new Set<string>();
      for (const key of wrong) {
        const reply = await ask(route, objects, { key });
        expect(codeOf(reply), `${route.call} ${key}`).to.equal('401 INVALID_API_KEY');
        answers.add(textOf(reply));
      }
      expect(answers.size).to.equal(1);
    });
  });

  it('answers 403 PERMISSION_DENIED, naming the missing permission, to a key that has all others', async () => {
    const keys = new Map<string, string>();
    for (const lacking of allPermissions)
      keys.set(lacking, await world.key(allPermissions.filter((one) => !allowedBy(lacking).includes(one))));
    await everywhere(async (route) => {
      if (route.permission === 'none') return;
      const reply = await ask(route, objects, { key: keys.get(route.permission) });
      expect(codeOf(reply), route.call).to.equal('403 PERMISSION_DENIED');
      expect(reply.body.error.message).to.contain(route.permission);
    });
  });

  it("answers 403 to a key limited to another space, and 404 to another organization's, as for an unknown space", async () => {
    const limited = await world.key(allPermissions, [sibling.spaceId]);
    await everywhere(async (route) => {
      expect(codeOf(await ask(route, objects, { key: limited })), route.call).to.equal('403 PERMISSION_DENIED');
      const known = await ask(route, objects, { key: other.apiKey });
      const unknown = await ask(route, objects, { key: other.apiKey, spaceId: randomUUID() });
      expect(codeOf(known), route.call).to.equal('404 SPACE_NOT_FOUND');
      expect(textOf(known)).to.equal(textOf(unknown));
    });
  });

  it('hides objects of other organizations and spaces: it answers as for unknown ids', async () => {
    let cases = 0;
    await everywhere(async (route) => {
      if (isOfNotes(route)) return;
      const pattern = `/v1/spaces/:spaceId${route.path}`;
      const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
      for (const name of [...inPath, ...(bodyIds[route.call] ?? [])]) {
        const code = `${name.slice(0, -2).toUpperCase()}_NOT_FOUND`;
        const expected = `${statusOf(allErrors, code, pattern)} ${code}`;
        const inBody = name === 'taskId' ? 'outsideTaskId' : name;
        const field = inPath.includes(name) ? objectIn(route.call, name) : inBody;
        const unknown = await ask(route, { ...objects, [field]: randomUUID() });
        expect(codeOf(unknown), `${route.call} ${name}`).to.equal(expected);
        for (const theirs of [others, siblings]) {
          const reply = await ask(route, { ...objects, [field]: theirs[field] ?? '' });
          expect(textOf(reply), `${route.call} ${name}`).to.equal(textOf(unknown));
          cases++;
        }
      }
    });
    expect(cases).to.be.at.least(80);
  });

  it("finds nothing for queries that name another's object, and refuses another's cursor", async () => {
    for (const [path, name] of queries) {
      const at = (id: string) => world.get(path.replace(':mailboxId', objects['mailboxId'] ?? '') + id);
      const unknown = await at(randomUUID());
      for (const theirs of [others, siblings]) expect((await at(theirs[name] ?? '')).body).to.deep.equal(unknown.body);
      expect((await at(objects[name] ?? '')).body, `${path} finds its own`).to.not.deep.equal(unknown.body);
    }
    for (const { get } of [other, sibling].map((one) => ({ get: (path: string) => one.get(path) }))) {
      const { nextCursor } = (await get('/events?limit=1')).body;
      for (const path of ['/events', '/watch'])
        expect(codeOf(await world.get(`${path}?cursor=${nextCursor}`))).to.equal('400 INVALID_CURSOR');
    }
  });

  it("has no notes of another's scope, and puts none there", async () => {
    for (const theirs of [others, siblings]) {
      const path = `/scopes/${theirs['scopeId']}/notes`;
      expect((await world.get(path)).body).to.deep.equal({ notes: [], nextCursor: null });
      for (const method of ['GET', 'DELETE'])
        expect(codeOf(await world.call(method, `${path}/plan`)), method).to.equal('404 NOTE_NOT_FOUND');
      expect((await world.call('PUT', `${path}/plan`, { value: 'mine' })).body.version).to.equal(1);
    }
    for (const [one, theirs] of [
      [other, others],
      [sibling, siblings],
    ] as const)
      expect((await one.get(`/scopes/${theirs['scopeId']}/notes/plan`)).body.value).to.deep.equal({ key: 'plan' });
  });

  it('refuses a key that is limited to mailboxes wherever it would reach another one, and nowhere else', async () => {
    const { id } = await world.mustPost('/mailboxes', { name: 'apart' });
    const key = await world.key(allPermissions, undefined, { mailboxes: [id] });
    const refused = allRoutes.filter((route) => isOfMailboxes(route, objects));
    await everywhere(async (route) => {
      if (!refused.includes(route)) return;
      const reply = await ask(route, objects, { key });
      expect(codeOf(reply), route.call).to.equal('403 PERMISSION_DENIED');
      expect(reply.body.error.message, route.call).to.match(/the API key is limited to (other|some) mailboxes/);
    });
    for (const route of allRoutes.filter(({ method }) => method === 'GET')) {
      if (refused.includes(route)) continue;
      const reply = await ask(route, objects, { key });
      expect(reply.status, `${route.call} ${reply.text}`).to.equal(200);
      expect(reply.text, route.call).to.not.include(objects['messageId'] ?? '');
    }
    expect(refused).to.have.length.within(40, allRoutes.length - 40);
  });

  it('refuses a key that is bound to a holder wherever another one is named, and nowhere else', async () => {
    const key = await world.key(allPermissions, undefined, { holder: 'apart' });
    let cases = 0;
    await everywhere(async (route) => {
      if (!namesHolder(route, objects)) return;
      const reply = await ask(route, objects, { key });
      expect(codeOf(reply), route.call).to.equal('403 PERMISSION_DENIED');
      expect(reply.body.error.message).to.contain('bound to a holder');
      cases++;
    });
    expect(cases).to.equal(7);
  });

  it('accepts a key that is limited to all mailboxes, and bound to the holder that is named', async () => {
    const mailboxes = await mailboxesOf(sibling);
    const key = await sibling.key(allPermissions, undefined, { mailboxes, holder: 'ann@example.com' });
    for (const route of allRoutes.toSorted((one, next) => lastOfAll(one) - lastOfAll(next))) {
      const named = { ...siblings, holder: 'ann@example.com', answeredBy: 'ann@example.com' };
      const reply = await ask(route, named, { key, spaceId: sibling.spaceId });
      if (route.needsAllMailboxes) expect(codeOf(reply), route.call).to.equal('403 PERMISSION_DENIED');
      else expect([401, 403, 404, 500], `${route.call} ${reply.text}`).to.not.include(reply.status);
    }
  });

  it('accepts a key with just its permission and its space', async () => {
    const keys = new Map<string, string>();
    for (const one of allPermissions) keys.set(one, await world.key([one], [world.spaceId]));
    for (const route of allRoutes.toSorted((one, next) => lastOfAll(one) - lastOfAll(next))) {
      const reply = await ask(route, objects, { key: keys.get(route.permission) ?? [...keys.values()][0] });
      expect([401, 403, 404, 500], `${route.call} ${reply.text}`).to.not.include(reply.status);
    }
  });
});
