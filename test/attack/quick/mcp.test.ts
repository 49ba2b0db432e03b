import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { toolName } from '../../../src/doors/mcp/tools.ts';
import { allowedBy } from '../../../src/engine/route/caller.ts';
import type { Route } from '../../../src/engine/route/route.ts';
import { routeOf, toolNames } from '../../mcp/rest.ts';
import { exchange } from '../../support/exchange.ts';
import { allPermissions, type World } from '../../support/world.ts';
import { changed, digests } from '../support/digest.ts';
import { isOfMailboxes, namesHolder } from '../support/limited.ts';
import { fieldsOf, isOfNotes, type Objects, objectIn } from '../support/objects.ts';
import { startTenants, type Tenants } from '../support/tenants.ts';

const routes = toolNames.map(routeOf);

describe('Every tool for every kind of caller', () => {
  let tenants: Tenants;
  let world: World;
  let other: World;
  let objects: Objects;
  let others: Objects;
  let siblings: Objects;

  before(async () => {
    tenants = await startTenants();
    ({ world, other, objects, others, siblings } = tenants);
  });
  after(() => tenants.stop());

  async function post(message: unknown, key = world.apiKey) {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` };
    const url = `${world.url}/v1/spaces/${world.spaceId}/mcp`;
    const { status, text } = await exchange('POST', url, headers, JSON.stringify(message));
    return { status, text };
  }

  /** Calls tools that refuse, in one request; the text of each answer without what differs between requests. */
  async function call(calls: readonly [Route, Objects][], key?: string): Promise<string[]> {
    const messages = calls.map(([route, objects], id) => {
      const params = { name: toolName(route.call), arguments: fieldsOf(route, objects) };
      return { jsonrpc: '2.0', id, method: 'tools/call', params };
    });
    const { status, text } = await post(messages.length === 1 ? messages[0] : messages, key);
    expect(status, text).to.equal(200);
    const answers: { id: number; result: { isError: boolean; content: { text: string }[] } }[] = [
      JSON.parse(text),
    ].flat();
    expect(answers.map(({ id, result }) => [id, result.isError])).to.deep.equal(messages.map(({ id }) => [id, true]));
    return answers.map(({ result: { content } }) =>
      (content[0]?.text ?? '')
        .replace(/,"requestId":"[^"]*"/, '')
        .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id'),
    );
  }

  /** Runs a test, and expects that it changes nothing that any organization keeps. */
  async function unchanged(test: () => Promise<void>): Promise<void> {
    const before = [await digests(world), await digests(other)] as const;
    await test();
    expect(changed(before[0], await digests(world))).to.deep.equal([]);
    expect(changed(before[1], await digests(other))).to.deep.equal([]);
  }
  const codeIn = (text: string | undefined): string => JSON.parse(text ?? '').error.code;

  it('answers a missing permission with the tool error PERMISSION_DENIED, which names it', async () => {
    const keys = new Map<string, string>();
    for (const lacking of allPermissions)
      keys.set(lacking, await world.key(allPermissions.filter((one) => !allowedBy(lacking).includes(one))));
    await unchanged(async () => {
      // A batch needs what its calls need: below.
      const needed = new Set(routes.map(({ permission }) => permission).filter((one) => one !== 'none'));
      for (const lacking of needed) {
        const denied = routes.filter(({ permission }) => permission === lacking);
        const all = denied.map((route): [Route, Objects] => [route, objects]);
        // The first one also in a request of its own, where other refusals are HTTP's.
        for (const calls of [all, all.slice(0, 1)])
          for (const [index, text] of (await call(calls, keys.get(lacking))).entries())
            expect([codeIn(text), text.includes(lacking)], denied[index]?.call).to.deep.equal([
              'PERMISSION_DENIED',
              true,
            ]);
      }
      const view = { call: 'barrier.view', barrierId: objects['barrierId'] };
      const params = { name: 'batch', arguments: { atomic: true, calls: [view] } };
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
      const { result } = JSON.parse((await post(message, keys.get('coordination_read'))).text);
      expect(result.isError).to.equal(true);
      expect(JSON.parse(result.content[0].text).error).to.include({ code: 'PERMISSION_DENIED', call: 'barrier.view' });
    });
  });

  it('refuses a key with limits as over REST, and lists what it may call', async () => {
    const { id } = await world.mustPost('/mailboxes', { name: 'apart' });
    const ofMailbox = await world.key(allPermissions, undefined, { mailboxes: [id] });
    const ofHolder = await world.key(allPermissions, undefined, { holder: 'apart' });
    await unchanged(async () => {
      for (const [key, isRefused] of [
        [ofMailbox, isOfMailboxes],
        [ofHolder, namesHolder],
      ] as const) {
        const denied = routes.filter((route) => isRefused(route, objects));
        expect(denied).to.have.length.above(4);
        const texts = await call(
          denied.map((route) => [route, objects]),
          key,
        );
        for (const [index, text] of texts.entries())
          expect(codeIn(text), denied[index]?.call).to.equal('PERMISSION_DENIED');
      }
    });
    const listed = async (key: string): Promise<string[]> => {
      const { text } = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, key);
      return JSON.parse(text).result.tools.map(({ name }: { name: string }) => name);
    };
    const hidden = routes
      .filter(({ needsAllMailboxes }) => needsAllMailboxes === true)
      .map(({ call }) => toolName(call));
    expect(hidden).to.have.length.above(2);
    expect(await listed(ofHolder)).to.have.members(toolNames);
    expect(await listed(ofMailbox)).to.have.members(toolNames.filter((name) => !hidden.includes(name)));
  });

  it('hides objects of other organizations and spaces: it answers as for unknown ids', () =>
    unchanged(async () => {
      const named = routes.filter((one) => !isOfNotes(one));
      const cases = named.flatMap((route) =>
        [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
          route,
          name,
          field: objectIn(route.call, name),
        })),
      );
      const ask = (from: Objects | undefined) =>
        call(cases.map(({ route, field }) => [route, { ...objects, [field]: from?.[field] ?? randomUUID() }]));
      const unknown = await ask(undefined);
      for (const [index, { route, name }] of cases.entries())
        expect(codeIn(unknown[index]), route.call).to.equal(`${name.slice(0, -2).toUpperCase()}_NOT_FOUND`);
      for (const theirs of [others, siblings]) expect(await ask(theirs)).to.deep.equal(unknown);
      expect(cases).to.have.length.above(20);
    }));

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
    const values = fc.oneof(fc.jsonValue(), fc.constantFrom(...Object.values(objects)));
    const names = [...new Set(routes.flatMap((route) => Object.keys(fieldsOf(route, objects))))];
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
        const { status, text: answer } = await post(JSON.parse(text));
        expect(status, `${text}: ${answer}`).to.be.oneOf([200, 202, 400]);
        expect(answer).to.not.contain('INTERNAL');
        // Other methods without their parameters get this code from the SDK.
        if (text.includes('"method":"tools/call"') && text.startsWith('{')) expect(answer).to.not.contain('-32603');
        expect(answer.includes(world.apiKey)).to.equal(false);
      }),
      { numRuns: 150, seed: 1 },
    );
  });
});
