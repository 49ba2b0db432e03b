import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { MusterService } from '../../../src/service.ts';
import { Sink } from '../../support/sink.ts';
import { delivering, rows } from '../../support/webhooks.ts';
import { allPermissions, codeOf, type Reply, World } from '../../support/world.ts';

describe('a redelivery or test with an Idempotency-Key', () => {
  let services: MusterService[];
  let sink: Sink;

  before(async () => {
    // One after the other: while a start builds the libraries, it blocks the process and the store's replies wait.
    services = [await delivering({ role: 'api' }), await delivering({ role: 'api' })];
    sink = await Sink.start();
  });
  after(async () => {
    await sink.stop();
    await Promise.all(services.map((service) => service.stop()));
  });

  it('is sent once: 50 equal parallel requests to two processes get equal answers', async () => {
    const worlds = [await World.create({ on: services[0] as MusterService })] as World[];
    const world = worlds[0] as World;
    worlds.push(new World(services[1] as MusterService, world.org, world.spaceId, world.apiKey));
    const { id } = await world.mustPost('/destinations', { url: `${sink.url}/hook` });
    const sentOnce = async (path: string): Promise<Reply> => {
      const sent = sink.received.length;
      const headers = { 'Idempotency-Key': randomUUID() };
      const replies = await Promise.all(
        Array.from({ length: 50 }, (_, n) => worlds[n % 2]?.post(path, undefined, headers) as Promise<Reply>),
      );
      expect(sink.received.length - sent, path).to.equal(1);
      expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).to.equal(1);
      expect(replies.filter((reply) => reply.headers.get('Idempotent-Replayed') === null)).to.have.lengthOf(1);
      return replies[0] as Reply;
    };
    const { body } = await sentOnce(`/destinations/${id}/test`);
    await sentOnce(`/deliveries/${body.id}/redeliver`);
    expect(await rows(world)).to.have.lengthOf(2);
  });

  it('is sent once for each caller: the same key from another API key is another request', async () => {
    const world = await World.create({ on: services[0] as MusterService });
    const { id } = await world.mustPost('/destinations', { url: `${sink.url}/hook` });
    const sent = sink.received.length;
    const keys = [world.apiKey, await world.key(allPermissions)];
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        world.post(`/destinations/${id}/test`, undefined, {
          'Idempotency-Key': 'test',
          Authorization: `Bearer ${keys[n % 2]}`,
        }),
      ),
    );
    expect(sink.received.length - sent).to.equal(2);
    expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).to.equal(2);
  });

  it("records its attempt even if the destination or the month's last operation is gone meanwhile", async () => {
    const world = await World.create({ on: services[0] as MusterService, plan: 'free' });
    const { store } = world.service;
    const org = `muster:{${world.org}}`;
    const register = () => world.mustPost('/destinations', { url: `${sink.url}/gone` });
    const [one, other] = [await register(), await register()];
    const { answer } = sink;
    const meanwhile = [
      () => world.call('DELETE', `/destinations/${one.id}`),
      () => store.hset(org, { usedOperations: 100_000 }),
    ];
    const deliveryIds: string[] = [];
    for (const [index, { id }] of [one, other].entries()) {
      sink.answer = (response) => void meanwhile[index]?.().then(() => response.end());
      const { status, body } = await world.post(`/destinations/${id}/test`);
      expect([status, body.state, body.destinationId]).to.deep.equal([201, 'SUCCEEDED', id]);
      deliveryIds.unshift(body.id);
    }
    sink.answer = answer;
    expect((await rows(world)).map(({ id }) => id)).to.deep.equal(deliveryIds);
    expect(await store.exists(`${world.prefix}:destination:${one.id}`)).to.equal(0);
  });

  it('is refused while another request with that key is being sent; a process that dies holds the key for 25 s', async () => {
    const world = await World.create({ on: services[0] as MusterService });
    const { id } = await world.mustPost('/destinations', { url: `${sink.url}/slow` });
    const other = await world.mustPost('/destinations', { url: `${sink.url}/other` });
    const headers = { 'Idempotency-Key': randomUUID() };
    const answered = new Promise<() => void>((resolve) => {
      sink.answer = (response, { path }) => (path === '/slow' ? resolve(() => response.end()) : response.end());
    });
    const first = world.post(`/destinations/${id}/test`, undefined, headers);
    const answer = await answered;
    const { store } = world.service;
    const [key] = await store.keys(`${world.prefix}:sending:*`);
    expect(await store.pttl(String(key))).to.be.within(20_000, 25_000);
    const second = world.post(`/destinations/${other.id}/test`, undefined, headers);
    answer();
    expect([codeOf(await first), codeOf(await second)]).to.deep.equal(['201', '422 IDEMPOTENCY_KEY_REUSED']);
    expect(sink.at('/other')).to.have.lengthOf(0);
    expect(await store.exists(String(key))).to.equal(0);
  });
});
