import { expect } from 'chai';
import { apiKeyDigest } from '../../src/engine/route/caller.ts';
import { createKey } from '../../src/primitives/org/admin.ts';
import type { MusterService } from '../../src/service.ts';
import { until } from '../support/processes.ts';
import { World } from '../support/world.ts';

const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';
const receive = { scopeId: '*', holder: 'a', holderSession: 's', waitSeconds: 1 };

describe('Requests that stay open', () => {
  let world: World;
  let service: MusterService;
  const leave: (() => void)[] = [];

  beforeEach(async () => {
    world = await World.create();
    service = world.service;
  });
  afterEach(() => {
    for (const one of leave.splice(0)) one();
  });

  const stream = async (from = world) => {
    const closing = new AbortController();
    const headers = { Authorization: `Bearer ${from.apiKey}`, Accept: 'text/event-stream' };
    const response = await fetch(`${from.url}/v1/spaces/${from.spaceId}/watch`, { headers, signal: closing.signal });
    return { response, close: () => closing.abort() };
  };

  it('are at most 2,000 streams of a key: the next gets 429, and other keys are served', async () => {
    const open = () => service.openRequests.stream(world.org, apiKeyDigest(world.apiKey));
    for (let n = 0; n < 1999; n++) leave.push(open());
    const last = await stream();
    expect(last.response.status).to.equal(200);
    const { response } = await stream();
    expect([response.status, response.headers.get('Retry-After')]).to.deep.equal([429, '5']);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect(error.code).to.equal('CONNECTIONS_LIMITED');
    expect(error.message).to.match(
      /^this API key has 2000 requests open at this process, which is the most: close some/,
    );
    // A page is no stream.
    expect((await world.get('/watch')).status).to.equal(200);
    const { apiKey } = await createKey(service, { org: world.org, permissions: ['coordination_read'] });
    const other = new World(service, world.org, world.spaceId, apiKey);
    const ofOther = await stream(other);
    expect(ofOther.response.status).to.equal(200);
    ofOther.close();
    // The place of a stream whose caller has left is free.
    last.close();
    await until(async () => {
      const again = await stream();
      again.close();
      return again.response.status === 200;
    });
  });

  it('are at most 20,000 of an organization: the next gets 429 and takes nothing, and others are served', async () => {
    const { id } = await world.mustPost('/mailboxes', { name: 'jobs' });
    for (let n = 0; n < 20_000; n++) leave.push(service.openRequests.hold(world.org));
    const refused = await world.post(`/mailboxes/${id}/recv`, receive);
    expect([refused.status, refused.body.error.code]).to.deep.equal([429, 'CONNECTIONS_LIMITED']);
    expect(refused.body.error.message).to.match(/^the organization has 20000 requests open/);
    const watch = await world.get('/watch?waitSeconds=1&cursor=latest');
    expect([watch.status, watch.body.error.code]).to.deep.equal([429, 'CONNECTIONS_LIMITED']);
    // What can be answered at once is.
    await world.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload: 1 });
    expect((await world.post(`/mailboxes/${id}/recv`, receive)).status).to.equal(200);
    const other = await World.create();
    const { id: theirs } = await other.mustPost('/mailboxes', { name: 'jobs' });
    expect((await other.post(`/mailboxes/${theirs}/recv`, receive)).status).to.equal(204);
    leave.pop()?.();
    expect((await world.post(`/mailboxes/${id}/recv`, receive)).status).to.equal(204);
  });
});
