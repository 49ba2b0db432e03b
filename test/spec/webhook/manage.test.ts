import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { listAudit } from '../../../src/primitives/org/admin.ts';
import { Sink } from '../../support/sink.ts';
import { delivering, untilRows } from '../../support/webhooks.ts';
import { codeOf, World } from '../../support/world.ts';

const url = 'https://127.0.0.1:9/hook';

describe('webhook destinations', () => {
  it('return the record and the signingSecret at creation, the only time it is shown', async () => {
    const world = await World.create();
    const now = Math.ceil(Date.now() / 60_000) * 60_000;
    await world.at(now);
    const { signingSecret, ...record } = await world.mustPost('/destinations', { url, eventTypes: ['message.*'] });
    const key = `muster:{${world.org}}`;
    expect(await world.service.store.hget(`${key}:${world.spaceId}`, 'usedRequests'), 'checked, and one').to.equal('1');
    expect(await world.service.store.hget(key, 'usedOperations')).to.equal('1');
    expect(record.createdAt).to.equal(new Date(now).toISOString());
    expect(Buffer.from(signingSecret.replace('whsec_', ''), 'base64')).to.have.length(32);
    expect(record).to.include({
      url,
      state: 'ACTIVE',
      disabledReason: null,
      consecutiveFailures: 0,
      failingSince: null,
      lastSuccessAt: null,
    });
    expect((await world.get(`/destinations/${record.id}`)).body).to.deep.equal(record);
    expect((await world.get('/destinations')).body).to.deep.equal({ destinations: [record], nextCursor: null });
    expect(await world.eventTypes()).to.deep.equal(['destination.created']);
  });

  it('replay the signingSecret of a create and of a rotation; a change and a deletion replay, too', async () => {
    const world = await World.create();
    const twice = async (method: string, path: string, body?: object, meanwhile?: () => Promise<unknown>) => {
      const headers = { 'Idempotency-Key': randomUUID() };
      const first = await world.call(method, path, body, headers);
      await meanwhile?.();
      const again = await world.call(method, path, body, headers);
      expect([again.status, again.text], path).to.deep.equal([first.status, first.text]);
      expect(again.headers.get('idempotent-replayed'), path).to.equal('true');
      return first;
    };
    const { status, body } = await twice('POST', '/destinations', { url });
    expect([status, (await world.get('/destinations')).body.destinations.length]).to.deep.equal([201, 1]);
    const path = `/destinations/${body.id}`;
    const rotate = () => world.mustPost(`${path}/rotate-secret`);
    expect((await twice('POST', `${path}/rotate-secret`, undefined, rotate)).body.signingSecret).to.match(/^whsec_/);
    await twice('PATCH', path, { eventTypes: ['budget.*'] }, () => world.call('PATCH', path, { state: 'DISABLED' }));
    expect((await twice('DELETE', path)).status).to.equal(204);
  });

  it('require an http or https url, and known eventTypes', async () => {
    const world = await World.create();
    const code = async (body: object) => {
      const reply = await world.post('/destinations', body);
      return `${reply.status} ${reply.body.error?.code}`;
    };
    for (const bad of [
      'ftp://example.com',
      'example.com',
      'https://',
      'HTTP://example.com',
      'http://example.com/\ud800',
    ])
      expect(await code({ url: bad }), bad).to.equal('400 VALIDATION_FAILED');
    expect(await code({ url: `${url}?`.padEnd(2048, 'y'), eventTypes: Array(100).fill('scope.*') })).to.equal(
      '201 undefined',
    );
    expect(await code({ url, eventTypes: Array(101).fill('scope.*') })).to.equal('400 VALIDATION_FAILED');
    const never = ['destination.*', 'destination.disabled', 'delivery.*', 'delivery.exhausted'];
    for (const types of [['message.lost'], ['*'], 'message.sent', ['mess.*'], [1], ...never.map((type) => [type])]) {
      expect(await code({ url, eventTypes: types })).to.equal('400 VALIDATION_FAILED');
    }
  });

  it('have a public address, as created and as changed', async () => {
    const service = await delivering({ role: 'api', webhookAllowPrivate: false, resolve: async () => [] });
    try {
      const world = await World.create({ on: service });
      // Not known yet, so it may be public.
      const { id } = await world.mustPost('/destinations', { url: 'https://hooks.test/' });
      for (const host of ['127.0.0.1', '[::1]', '127.1']) {
        const inside = { url: `http://${host}:8080/` };
        expect(codeOf(await world.post('/destinations', inside)), host).to.equal('400 DESTINATION_URL_FORBIDDEN');
        const changed = await world.call('PATCH', `/destinations/${id}`, inside);
        expect(codeOf(changed), host).to.equal('400 DESTINATION_URL_FORBIDDEN');
      }
    } finally {
      await service.stop();
    }
  });

  it('are limited to 20 in a space', async () => {
    const world = await World.create();
    const replies = await Promise.all(Array.from({ length: 25 }, () => world.post('/destinations', { url })));
    expect(replies.filter(({ status }) => status === 201)).to.have.length(20);
    expect(replies.find(({ status }) => status === 409)?.body.error.code).to.equal('DESTINATIONS_FULL');
    const page = (await world.get('/destinations?limit=15')).body;
    const rest = (await world.get(`/destinations?limit=15&cursor=${page.nextCursor}`)).body;
    const ids = [...page.destinations, ...rest.destinations].map(({ id }: { id: string }) => id);
    expect(ids).to.deep.equal([...new Set(ids)].sort().reverse());
  });

  it('can change url, eventTypes and state by PATCH; one that changes nothing is no operation', async () => {
    const world = await World.create();
    const { id } = await world.mustPost('/destinations', { url });
    const patch = (body: object) => world.call('PATCH', `/destinations/${id}`, body);
    const changed = { url: 'https://127.0.0.1:9/new', eventTypes: ['budget.*'] };
    for (let i = 0; i < 2; i++) expect((await patch(changed)).body).to.deep.include(changed);
    expect((await patch({ state: 'DISABLED' })).body).to.include({ state: 'DISABLED', disabledReason: 'REQUESTED' });
    expect((await patch({ state: 'DISABLED' })).status).to.equal(200);
    expect((await patch({ state: 'ACTIVE' })).body).to.include({ state: 'ACTIVE', disabledReason: null });
    expect((await patch({ state: 'GONE' })).status).to.equal(400);
    expect(await world.service.store.hget(`muster:{${world.org}}`, 'usedOperations')).to.equal('4');
    expect((await world.eventTypes()).at(-1)).to.equal('destination.disabled');
  });

  it('are unknown after DELETE, which answers 204, and their pending deliveries are EXHAUSTED', async () => {
    const world = await World.create();
    const { scripts, store } = world.service;
    const ids: string[] = [];
    for (let i = 0; i < 2; i++) ids.push((await world.mustPost('/destinations', { url })).id);
    const [id, other] = ids;
    await world.mustPost('/mailboxes', { name: 'jobs' });
    const args = { spaceId: world.spaceId, requestId: '', maxEntries: 10, opened: '' };
    await scripts.execute('webhook/dispatch', world.org, args);
    expect((await world.call('DELETE', `/destinations/${id}`)).status).to.equal(204);
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/test'],
      ['POST', '/rotate-secret'],
    ]) {
      const reply = await world.call(method ?? '', `/destinations/${id}${path}`);
      expect([reply.status, reply.body.error.code]).to.deep.equal([404, 'DESTINATION_NOT_FOUND']);
    }
    expect((await world.call('PATCH', `/destinations/${id}`, {})).status).to.equal(404);
    expect((await world.get('/backlog')).body.outbox).to.include({ PENDING: 1, EXHAUSTED: 1 });
    const { destinations } = (await world.get('/destinations')).body;
    expect(destinations.map((one: { id: string }) => one.id)).to.deep.equal([other]);
    const key = `muster:{${world.org}}`;
    expect(await store.smembers(`${key}:outbox`)).to.deep.equal([world.spaceId]);
    await world.call('DELETE', `/destinations/${other}`);
    const [more] = await scripts.execute('webhook/dispatch', world.org, args);
    expect(more, 'no destinations').to.equal(-1);
    const left = [...(await store.keys(`${key}:*:destination*`)), ...(await store.keys(`${key}:outbox`))];
    expect(left).to.deep.equal([]);
  });

  it('have every change in the audit trail, without secrets', async () => {
    const world = await World.create();
    const { id, signingSecret } = await world.mustPost('/destinations', { url });
    const { signingSecret: second } = await world.mustPost(`/destinations/${id}/rotate-secret`);
    await world.call('PATCH', `/destinations/${id}`, { eventTypes: ['budget.*'] });
    await world.call('DELETE', `/destinations/${id}`);
    const text = JSON.stringify(await listAudit(world.service, world.org));
    const actions = [...text.matchAll(/"(destination\.\w+)"/g)].map(([, action]) => action);
    expect(actions).to.have.members([
      'destination.created',
      'destination.secret_rotated',
      'destination.updated',
      'destination.deleted',
    ]);
    expect(text).to.not.include(signingSecret).and.not.include(second);
  });

  it('get no delivery if their name resolves to a public address first and to loopback when connecting', async () => {
    let address = '93.184.215.14';
    const resolve = async () => [{ address, family: 4 }];
    const service = await delivering({ webhookAllowPrivate: false, resolve });
    const sink = await Sink.start();
    try {
      const world = await World.create({ on: service });
      await world.mustPost('/destinations', { url: `http://rebind.example:${sink.port}/` });
      address = '127.0.0.1';
      await world.mustPost('/mailboxes', { name: 'jobs' });
      expect((await untilRows(world, 1))[0]).to.include({ trigger: 'SCHEDULED', errorCode: 'TARGET_FORBIDDEN' });
      expect(sink.received).to.have.length(0);
    } finally {
      await service.stop();
      await sink.stop();
    }
  });
});
