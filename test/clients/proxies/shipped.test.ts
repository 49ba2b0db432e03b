import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createMuster } from 'muster-client';
import pino from 'pino';
import { type MusterService, startService } from '../../../src/service.ts';
import { OwnStore } from '../../support/own-store.ts';
import { until } from '../../support/processes.ts';
import { World } from '../../support/world.ts';
import { type RunningProxy, startHaproxy, startNginx } from './proxy.ts';

const fileOf = (path: string) => readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');

/** The shipped file, for these servers instead of those of docker-compose.yml. */
function haproxyFor([first = '', second = '']: readonly string[]): Promise<RunningProxy> {
  const config = fileOf('src/doors/http/haproxy.cfg')
    .replace(/^resolvers docker\n(?: .*\n|\n)*/m, '')
    .replaceAll(' resolvers docker init-addr last,libc,none', '')
    .replace('bind :8080', 'bind 127.0.0.1:PORT')
    .replaceAll(/^ +server app .*\n/gm, '')
    .replaceAll('api-1:8080', first)
    .replaceAll('api-2:8080', second);
  return startHaproxy(config);
}

function nginxFor([first = '', second = '']: readonly string[]): Promise<RunningProxy> {
  const config = fileOf('docs/deploy/nginx.conf')
    .replace('listen 80;', 'listen 127.0.0.1:PORT;')
    .replace('127.0.0.1:8080', first)
    .replace('127.0.0.1:8081', second);
  return startNginx(config);
}

for (const [file, start, isOut] of [
  ['haproxy.cfg', haproxyFor, (said: string) => /backend muster has no server available/i.test(said)],
  // It checks nothing by itself.
  ['nginx.conf', nginxFor, () => true],
] as const)
  describe(`The shipped ${file}`, () => {
    let store: OwnStore;
    let services: MusterService[];
    let world: World;
    let proxy: RunningProxy;
    before(async () => {
      store = await OwnStore.start();
      const rest = { role: 'api', host: '127.0.0.1', port: 0, log: pino({ level: 'silent' }) } as const;
      services = [
        await startService({ ...rest, redisUrl: store.url }),
        await startService({ ...rest, redisUrl: store.url }),
      ];
      world = await World.create({ on: services[0] as MusterService });
      proxy = await start(services.map(({ url = '' }) => new URL(url).host));
    });
    after(async () => {
      await proxy?.stop();
      for (const service of services) await service.stop();
      await store.stop();
    });
    const ask = (path = `/v1/spaces/${world.spaceId}/mailboxes`) =>
      fetch(`${proxy.url}${path}`, { headers: { Authorization: `Bearer ${world.apiKey}` } });
    const refusal = async () => {
      const answer = await ask();
      const { error } = (await answer.json()) as { error: { code: string; reason: string } };
      return [answer.status, answer.headers.get('Retry-After'), error.code, error.reason];
    };

    it('passes calls and streams on as they come', async () => {
      await until(async () => (await ask()).status === 200);
      const muster = createMuster({ url: proxy.url, key: world.apiKey, spaceId: world.spaceId });
      const { body } = await world.get('/watch?cursor=latest&limit=1');
      const events = muster.events({ cursor: body.nextCursor })[Symbol.asyncIterator]();
      const next = events.next();
      const { id } = await muster.mailbox.create({ name: 'one' });
      expect((await next).value?.aggregateId).to.equal(id);
      await events.return?.();
    });

    it('goes on with the other server if one ends, without a failed call', async () => {
      await services[1]?.stop();
      for (let n = 0; n < 10; n++) expect((await ask()).status).to.equal(200);
    });

    it('leaves the servers in if none is ready, so that callers read why', async () => {
      await store.stop();
      await until(() => isOut(proxy.said()));
      expect(await refusal()).to.deep.equal([503, '1', 'STORE_UNAVAILABLE', 'UNREACHABLE']);
    });

    it('answers JSON, with Retry-After, if no server runs', async () => {
      await services[0]?.stop();
      expect(await refusal()).to.deep.equal([503, '1', 'STORE_UNAVAILABLE', 'NO_SERVER']);
    });
  });
