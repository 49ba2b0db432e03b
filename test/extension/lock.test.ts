// A room outside src/ and lua/ is served like any other, without a change to any file outside this folder.
import { randomUUID } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import pino from 'pino';
import { toolsOf } from '../../src/doors/mcp/tools.ts';
import { openapi } from '../../src/engine/openapi/openapi.ts';
import { rooms } from '../../src/primitives/primitives.ts';
import { collect } from '../../src/primitives/room.ts';
import { type MusterService, startService } from '../../src/service.ts';
import { clientTexts } from '../../src/tools/generator/calls.ts';
import { Agent } from '../mcp/agent.ts';
import { withoutMappings } from '../support/declared.ts';
import { guide } from '../support/guide/describe.ts';
import { OwnStore } from '../support/own-store.ts';
import { overrides, type Reply, World } from '../support/world.ts';
import { lockRoom } from './lock.ts';

const product = collect([...rooms, lockRoom]);
// As a client gets it.
const document = JSON.parse(JSON.stringify(openapi(product)));
const ajv = new Ajv2020({
  strict: false,
  discriminator: true,
  formats: { uuid: true, 'date-time': true, date: true, uri: true },
});
ajv.addSchema({ $id: 'https://muster/', ...withoutMappings(document) });

/** The errors of a body against a named schema of the document. */
function problem(name: string, body: unknown): string | null {
  const validate = ajv.getSchema(`https://muster/#/components/schemas/${name}`);
  return validate?.(body) ? null : ajv.errorsText(validate?.errors);
}

describe('A primitive passed to the service: a lock', () => {
  const start = Math.ceil(Date.now() / 60_000) * 60_000;
  let ownStore: OwnStore;
  let service: MusterService;
  let world: World;
  before(async () => {
    ownStore = await OwnStore.start();
    const log = pino({ level: 'silent' });
    const rest = { role: 'api', host: '127.0.0.1', port: 0, overrides } as const;
    service = await startService({ redisUrl: ownStore.url, log, product, ...rest });
  });
  beforeEach(async () => {
    world = await World.create({ on: service, limits: { maxLocks: 2 } });
    await world.at(start);
  });
  after(async () => {
    await service.stop();
    await ownStore.stop();
  });

  /** Sends a request without World's checks, which know only the product's own routes. */
  async function ask(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const response = await fetch(`${world.url}/v1/spaces/${world.spaceId}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${world.apiKey}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': randomUUID(),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === '' ? undefined : JSON.parse(text),
    };
  }
  const scopeId = randomUUID();
  const acquire = (name: string, more: object = {}, headers: Record<string, string> = {}) =>
    ask('POST', '/locks', { scopeId, name, holder: 'agent-1', ...more }, headers);
  const codeOf = ({ status, body }: Reply): string => `${status} ${body.error?.code ?? body.state}`;

  it('is acquired, refused to others, released and shown', async () => {
    const { status, body } = await acquire('crane');
    expect(status).to.equal(201);
    expect(problem('Lock', body)).to.equal(null);
    const leaseExpiresAt = new Date(start + 30_000).toISOString();
    expect(body).to.include({ scopeId, name: 'crane', holder: 'agent-1', state: 'HELD', fence: 1, leaseExpiresAt });
    const refused = await acquire('crane', { holder: 'agent-2' });
    expect(codeOf(refused)).to.equal('409 LOCK_HELD');
    expect(refused.body.error.message).to.contain('held by agent-1');
    expect((await ask('GET', `/locks/${body.id}`)).body).to.deep.equal(body);
    const released = await ask('POST', `/locks/${body.id}/release`);
    expect(released.body).to.deep.equal({ ...body, state: 'RELEASED', leaseExpiresAt: null });
    expect(codeOf(await ask('POST', `/locks/${body.id}/release`))).to.equal('200 RELEASED');
    expect((await acquire('crane')).body.fence).to.equal(2);
    expect(codeOf(await ask('GET', `/locks/${randomUUID()}`))).to.equal('404 LOCK_NOT_FOUND');
  });

  it('is acquired by one of 200 parallel requests', async () => {
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, n) => acquire('crane', { holder: `agent-${n}` })),
    );
    const codes = replies.map(codeOf).sort();
    expect(codes).to.deep.equal(['201 HELD', ...Array(199).fill('409 LOCK_HELD')]);
  });

  it('requires its permission, replays by Idempotency-Key, and explains what is wrong with a request', async () => {
    const reading = await world.key(['coordination_read']);
    const denied = await acquire('crane', {}, { Authorization: `Bearer ${reading}` });
    expect(codeOf(denied)).to.equal('403 PERMISSION_DENIED');
    const key = { 'Idempotency-Key': 'once' };
    const first = await acquire('crane', {}, key);
    const again = await acquire('crane', {}, key);
    expect([again.status, again.body, again.headers.get('idempotent-replayed')]).to.deep.equal([
      201,
      first.body,
      'true',
    ]);
    expect(codeOf(await acquire('other', {}, key))).to.equal('422 IDEMPOTENCY_KEY_REUSED');
    const short = await acquire('crane', { leaseSeconds: 1 });
    expect(codeOf(short)).to.equal('400 VALIDATION_FAILED');
    expect(short.body.error.message).to.equal('leaseSeconds must be a whole number from 5 to 600');
  });

  it("has its own limit, which the space's limits show and set", async () => {
    expect((await ask('GET', '/limits')).body).to.include({ maxLocks: 2, maxBacklog: 1000 });
    expect((await ask('PUT', '/limits', { maxLocks: 1 })).body).to.include({ maxLocks: 1 });
    expect(codeOf(await ask('PUT', '/limits', { maxLocks: 1001 }))).to.equal('400 VALIDATION_FAILED');
    await acquire('crane');
    const full = await acquire('hoist');
    expect([codeOf(full), full.body.error.message]).to.deep.equal([
      '409 LOCKS_FULL',
      'the space holds its maxLocks of 1: release one, or raise the limit',
    ]);
    const { events } = (await ask('GET', '/events')).body;
    const [updated] = events.filter(({ type }: { type: string }) => type === 'limits.updated');
    expect([updated.payload.maxLocks, problem('LimitsUpdatedEvent', updated)]).to.deep.equal([1, null]);
    expect((await ask('PUT', '/limits', { maxLocks: null })).body).to.include({ maxLocks: 2 });
  });

  it('lapses with its lease, swept or not', async () => {
    const { body } = await acquire('crane', { leaseSeconds: 5 });
    await world.at(start + 5_000);
    expect(codeOf(await ask('POST', `/locks/${body.id}/release`))).to.equal('409 LOCK_LAPSED');
    const agent = await Agent.connect(world);
    const { value } = await agent.call('lock_release', { lockId: body.id });
    expect([value.error.code, value.advice]).to.deep.equal(['LOCK_LAPSED', 'it is not yours any more: stop writing']);
    await agent.close();
    expect((await ask('GET', `/locks/${body.id}`)).body).to.deep.equal({
      ...body,
      state: 'LAPSED',
      leaseExpiresAt: null,
    });
    expect(codeOf(await acquire('crane'))).to.equal('201 HELD');
    const { events } = (await ask('GET', '/events')).body;
    expect(events.map(({ type }: { type: string }) => type)).to.deep.equal([
      'scope.created',
      'lock.acquired',
      'lock.lapsed',
      'lock.acquired',
    ]);
  });

  it("is in the journal and watches, the census, its run's view and the count of operations", async () => {
    const watched = ask('GET', '/watch?types=lock.*&aggregate=lock&cursor=latest&waitSeconds=5');
    const { body: lock } = await acquire('crane');
    const [event] = (await watched).body.events;
    expect(problem('Event', event)).to.equal(null);
    const { type, aggregateId, payload } = event;
    expect([type, aggregateId]).to.deep.equal(['lock.acquired', lock.id]);
    expect(payload).to.deep.equal({ lockId: lock.id, scopeId, holder: 'agent-1', state: 'HELD', fence: 1 });
    expect(codeOf(await ask('GET', '/watch?types=lock.stolen,lox.*'))).to.equal('400 VALIDATION_FAILED');
    const census = (await ask('GET', '/census')).body;
    expect([census.locks, problem('Census', census)]).to.deep.equal([{ HELD: 1, RELEASED: 0, LAPSED: 0 }, null]);
    const run = (await ask('GET', `/ops/runs/${scopeId}`)).body;
    expect(run.locks).to.deep.equal([lock]);
    expect(run.messages).to.deep.equal([]);
    const [today] = (await ask('GET', '/usage')).body.days.slice(-1);
    expect(today.byCall).to.deep.equal({ 'lock.acquire': 1 });
  });

  it('has its tag, after the others, and its own words and examples in OpenAPI', () => {
    expect(document.tags.map(({ name }: { name: string }) => name).slice(-3)).to.deep.equal([
      'space',
      'lock',
      'system',
    ]);
    expect(document.tags.at(-2)).to.deep.equal({
      name: 'lock',
      'x-displayName': 'Locks',
      description: 'One holder at a time, with a fence.',
    });
    const { schemas } = document.components;
    const { name, fence } = schemas.Lock.properties;
    expect(name.description).to.equal('The resource that it protects.');
    expect(fence.description).to.equal('A number that grows with each acquisition: pass it on, and refuse lower ones.');
    // A request's field means what the field of its name means in the room, and not what it means in another.
    expect(schemas.LockAcquireBody.properties.name.description).to.match(/^The resource that it protects\./);
    expect(schemas.SpaceLimits.properties.maxLocks.description).to.equal('The most locks held in the space.');
    expect(schemas.Census.properties.locks.description).to.equal('The number of locks by state.');
    const { requestBody, responses } = document.paths['/v1/spaces/{spaceId}/locks'].post;
    const { example } = requestBody.content['application/json'];
    expect(example).to.include({ name: 'crane', holder: 'worker-7', leaseSeconds: 30 });
    const shown = responses[201].content['application/json'].example;
    expect(shown).to.include({ name: 'crane', fence: 7, state: 'HELD', leaseExpiresAt: null });
    expect(problem('Lock', shown)).to.equal(null);
  });

  it('is offered to models, as a group of tools of its own', () => {
    const tools = toolsOf(product);
    expect([...tools.keys()].slice(-2)).to.deep.equal(['lock_acquire', 'lock_release']);
    const [acquire, release] = ['lock_acquire', 'lock_release'].map((name) => tools.get(name)?.tool);
    expect(acquire?.title).to.equal('Acquire a lock');
    expect(acquire?.description).to.match(/^Hold a resource alone/);
    expect(tools.get('lock_acquire')?.group).to.equal('lock');
    expect(acquire?.inputSchema['properties']).to.deep.include({
      leaseSeconds: {
        type: 'integer',
        minimum: 5,
        maximum: 600,
        default: 30,
        description: 'for how long you hold it unless you release it',
      },
    });
    expect(release?.annotations).to.include({ destructiveHint: false, idempotentHint: true });
    expect(release?.inputSchema['properties']).to.deep.include({
      lockId: { type: 'string', description: 'id of a lock, from lock_acquire' },
    });
  });

  it('is described in OpenAPI, the typed client and the table of keys', async () => {
    const operation = document.paths['/v1/spaces/{spaceId}/locks/{lockId}/release'].post;
    expect(operation.operationId).to.equal('lock.release');
    const { schema } = operation.responses[200].content['application/json'];
    expect(schema).to.deep.equal({ $ref: '#/components/schemas/Lock' });
    expect(document.components.schemas.Event.oneOf).to.deep.include({ $ref: '#/components/schemas/LockLapsedEvent' });
    const { calls, errors, openapi: types } = await clientTexts(openapi(product));
    expect(calls).to.contain("'lock.acquire': ['POST', '/spaces/{spaceId}/locks'],");
    expect(errors).to.contain('readonly LOCK_HELD: 409;');
    expect(types).to.contain('LockLapsedEvent: {').and.to.contain('type: "lock.lapsed";');
    const text = guide(product);
    expect(text).to.contain('| `muster:{org}:<spaceNumber>:lockNames` | hash |').and.to.contain('| `lock/acquire` |');
  });
});
