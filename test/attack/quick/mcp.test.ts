import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { Route } from '../../../src/http/route.ts';
import { toolName } from '../../../src/mcp/tools.ts';
import { words } from '../../../src/mcp/words.ts';
import { routeOf } from '../../mcp/rest.ts';
import { allPermissions, type World } from '../../support/world.ts';
import { changed, digests } from '../support/digest.ts';
import { fieldsOf, type Objects, objectIn } from '../support/objects.ts';
import { startTenants, type Tenants } from '../support/tenants.ts';

const routes = Object.keys(words).map((call) => routeOf(toolName(call)));

describe('Every tool for every kind of caller', () => {
  let tenants: Tenants;
  let world: World;
  let other: World;
  let sibling: World;
  let own: Objects;
  let others: Objects;
  let siblings: Objects;

  before(async () => {
    tenants = await startTenants();
    ({ world, other, sibling, own, others, siblings } = tenants);
  });
  after(() => tenants.stop());

  async function post(message: unknown, key: string | undefined, spaceId = world.spaceId) {
    const headers = {
      'Content-Type': 'application/json',
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
    };
    const response = await fetch(`${world.url}/v1/spaces/${spaceId}/mcp`, {
      method: 'POST',
      headers,
      body: JSON.stringify(message),
    });
    const text = await response.text();
    return { status: response.status, text, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** `200`, the status and code of a refused HTTP request, or the code of a tool error. */
  async function call(
    route: Route,
    objects: Objects,
    { key = world.apiKey, spaceId }: { key?: string | undefined; spaceId?: string } = {},
    noKey = false,
  ): Promise<{ code: string; text: string }> {
    const params = { name: toolName(route.call), arguments: fieldsOf(route, objects) };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const { status, text, body } = await post(message, noKey ? undefined : key, spaceId);
    const plain = text.replaceAll(/\\?"requestId\\?":\\?"[^"\\]*\\?"/g, '');
    const normalized = plain.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id');
    if (status !== 200) return { code: `${status} ${body.error.code}`, text: normalized };
    const [{ text: content = '' } = {}] = body.result.content;
    return { code: body.result.isError ? JSON.parse(content).error.code : '200', text: normalized };
  }

  async function everywhere(test: (route: Route) => Promise<void>): Promise<void> {
    const before = [await digests(world), await digests(other)] as const;
    for (const route of routes) await test(route);
    expect(changed(before[0], await digests(world))).to.deep.equal([]);
    expect(changed(before[1], await digests(other))).to.deep.equal([]);
  }

  it('refuses the HTTP request: 401 for no or a wrong key, 404 for another organization, 403 for a key of another space', async () => {
    const limited = await world.key(allPermissions, [sibling.spaceId]);
    await everywhere(async (route) => {
      expect((await call(route, own, {}, true)).code, route.call).to.equal('401 UNAUTHENTICATED');
      const wrong = `mk_${world.org}_${'a'.repeat(43)}`;
      expect((await call(route, own, { key: wrong })).code, route.call).to.equal('401 INVALID_API_KEY');
      expect((await call(route, own, { key: limited })).code, route.call).to.equal('403 PERMISSION_DENIED');
      const known = await call(route, own, { key: other.apiKey });
      expect(known.code, route.call).to.equal('404 SPACE_NOT_FOUND');
      expect(known.text).to.equal((await call(route, own, { key: other.apiKey, spaceId: randomUUID() })).text);
    });
  });

  it('answers a missing permission with the tool error PERMISSION_DENIED, as REST does, and is then not listed', async () => {
    for (const lacking of allPermissions) {
      const key = await world.key(allPermissions.filter((one) => one !== lacking));
      const { body } = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, key);
      const listed: string[] = body.result.tools.map(({ name }: { name: string }) => name);
      await everywhere(async (route) => {
        expect(listed.includes(toolName(route.call)), route.call).to.equal(route.permission !== lacking);
        if (route.permission !== lacking) return;
        const { code, text } = await call(route, own, { key });
        expect([code, text.includes(lacking)], route.call).to.deep.equal(['PERMISSION_DENIED', true]);
      });
    }
  });

  it('hides objects of other organizations and spaces: it answers as for unknown ids', async () => {
    let cases = 0;
    await everywhere(async (route) => {
      const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
      for (const name of inPath) {
        const field = objectIn(route.call, name);
        const unknown = await call(route, { ...own, [field]: randomUUID() });
        expect(unknown.code, route.call).to.equal(`${name.slice(0, -2).toUpperCase()}_NOT_FOUND`);
        for (const theirs of [others, siblings]) {
          expect((await call(route, { ...own, [field]: theirs[field] ?? '' })).text, route.call).to.equal(unknown.text);
          cases++;
        }
      }
    });
    expect(cases).to.be.at.least(40);
  });

  it('answers whatever it is sent, never with a 500, and shows no keys', async () => {
    const methods = [
      'initialize',
      'tools/list',
      'tools/call',
      'prompts/get',
      'resources/read',
      'ping',
      'server/discover',
    ];
    const values = fc.oneof(fc.jsonValue(), fc.constantFrom(...Object.values(own)));
    const names = [...new Set(routes.flatMap((route) => Object.keys(fieldsOf(route, own))))];
    const args = fc.oneof(
      fc.dictionary(fc.constantFrom(...names, '__proto__', 'idempotencyKey'), values),
      fc.jsonValue(),
    );
    const message = fc.record(
      {
        jsonrpc: fc.constantFrom('2.0', '1.0', null),
        id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
        method: fc.oneof({ weight: 1, arbitrary: fc.string() }, { weight: 6, arbitrary: fc.constantFrom(...methods) }),
        params: fc.oneof(
          {
            weight: 5,
            arbitrary: fc.record({
              name: fc.constantFrom(...routes.map(({ call }) => toolName(call))),
              arguments: args,
            }),
          },
          fc.jsonValue(),
        ),
      },
      { requiredKeys: [] },
    );
    const calls = fc.record({
      jsonrpc: fc.constant('2.0'),
      id: fc.integer(),
      method: fc.constant('tools/call'),
      params: fc.record({ name: fc.constantFrom(...routes.map((route) => toolName(route.call))), arguments: args }),
    });
    const any = fc.oneof(message, calls, fc.array(message, { maxLength: 3 }));
    await fc.assert(
      fc.asyncProperty(any, async (body) => {
        // The arguments must not cancel scopes that other tests use; waits would only take time.
        const text = JSON.stringify(body).replaceAll('waitSeconds', 'wait');
        const { status, text: answer } = await post(JSON.parse(text), world.apiKey);
        expect(status, `${text}: ${answer}`).to.be.oneOf([200, 202, 400]);
        expect(answer).to.not.contain('INTERNAL');
        // Other methods without their parameters get this code from the SDK.
        if (text.includes('"method":"tools/call"') && text.startsWith('{')) expect(answer).to.not.contain('-32603');
        expect(answer.includes(world.apiKey)).to.equal(false);
      }),
      { numRuns: 400, seed: 1 },
    );
  });
});
