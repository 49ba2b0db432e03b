import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pino from 'pino';
import { connect } from '../../src/engine/redis/connection.ts';
import { type MusterService, startService } from '../../src/service.ts';
import { OwnStore } from '../support/own-store.ts';
import { until } from '../support/processes.ts';
import { codeOf, World } from '../support/world.ts';

describe('Store down, loading, read-only or out of memory: 503 STORE_UNAVAILABLE', () => {
  let store: OwnStore;
  let service: MusterService;
  let world: World;
  let mailboxId: string;
  let path: string;
  const scopeId = randomUUID();
  const send = () => world.post(path, { scopeId, payload: 'x'.repeat(1000) });

  before(async () => {
    store = await OwnStore.start();
    const log = pino({ level: 'silent' });
    service = await startService({ redisUrl: store.url, role: 'api', host: '127.0.0.1', port: 0, log });
    world = await World.create({ on: service });
    mailboxId = (await world.mustPost('/mailboxes', { name: 'jobs' })).id;
    path = `/mailboxes/${mailboxId}/messages`;
  });
  after(async () => {
    await service.stop();
    await store.stop();
  });

  it('must be one server, unless it is a cluster', async () => {
    const refused = await connect(`${store.url},${store.url}`).catch((error: Error) => error.message);
    expect(refused).to.contain('not a cluster node');
  });

  it('out of memory: nothing is half written, and calls succeed once there is memory', async () => {
    await send();
    const events = await world.eventTypes();
    await service.store.config('SET', 'maxmemory', '1');
    const call = { name: 'message_send', arguments: { mailboxId, scopeId, payload: 1 } };
    const accept = { Accept: 'application/json, text/event-stream' };
    const batched = { calls: [{ call: 'message.send', mailboxId, scopeId, payload: 1 }] };
    const tool = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call };
    const refused = [
      ...[await send(), await world.post('/batch', batched), await world.post('/mcp', tool, accept)],
      await world.send('GET', '/readyz'),
    ];
    await service.store.config('SET', 'maxmemory', '0');
    for (const answer of refused) {
      expect(codeOf(answer)).to.equal('503 STORE_UNAVAILABLE');
      expect(answer.body.error.reason).to.equal('OOM');
      expect(answer.headers.get('Retry-After')).to.match(/^[1-9]\d*$/);
    }
    expect(await world.eventTypes()).to.deep.equal(events);
    expect((await send()).status).to.equal(201);
  });

  it('read-only: 503, and calls succeed again on a connection to the new master', async () => {
    const connection = await service.store.client('ID');
    await service.store.call('REPLICAOF', '127.0.0.1', '1');
    const key = { 'Idempotency-Key': randomUUID() };
    const refused = await world.post(path, { scopeId, payload: 1 }, key);
    expect([codeOf(refused), refused.body.error.reason]).to.deep.equal(['503 STORE_UNAVAILABLE', 'READONLY']);
    const admin = await store.admin();
    await admin.store.call('REPLICAOF', 'NO', 'ONE');
    let again = refused;
    await until(async () => {
      again = await world.post(path, { scopeId, payload: 1 }, key);
      return again.status !== 503;
    });
    expect([again.status, again.body.replay]).to.deep.equal([201, false]);
    expect(await service.store.client('ID')).to.not.equal(connection);
  });

  it('down: calls, even invalid ones, and /readyz are 503, but not /healthz; held receives are released', async () => {
    const recv = { scopeId: randomUUID(), holder: 'h', holderSession: 's', waitSeconds: 2 };
    const held = world.post(path.replace('messages', 'recv'), recv);
    await until(() => service.wake.size > 0);
    await store.stop();
    for (const reply of [await send(), await world.get('/mailboxes'), await world.get('/mailboxes?limit=0')]) {
      expect(codeOf(reply)).to.equal('503 STORE_UNAVAILABLE');
      expect(reply.headers.get('Retry-After')).to.equal('1');
    }
    const ready = await world.send('GET', '/readyz');
    expect([codeOf(ready), ready.body.error.reason]).to.deep.equal(['503 STORE_UNAVAILABLE', 'UNREACHABLE']);
    expect((await world.send('GET', '/healthz')).status).to.equal(200);
    expect((await held).status).to.be.oneOf([204, 503]);
  });
});
