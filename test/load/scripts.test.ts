import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { Processes, until } from '../support/processes.ts';
import { World } from '../support/world.ts';
import { runLoad } from './emulator/run.ts';

const folder = new URL('./', import.meta.url);
const scripts = readdirSync(folder).filter((name) => name.endsWith('.js'));

describe('a load script', () => {
  const processes = new Processes();
  let environment: Record<string, string>;
  before(async () => {
    const server = await processes.start({ DATA_DIR: await processes.folder() }).ready();
    const { apiKey, spaceId } = server.access;
    environment = settings({ url: server.url, apiKey, spaceId });
  });
  after(() => processes.clear());

  for (const name of scripts)
    it(`${name} passes its thresholds, and its invariants hold`, async () => {
      const { stdout, isPass, said } = await runLoad(new URL(name, folder), environment);
      expect(said).to.deep.equal([]);
      expect(stdout).to.match(/invariants {2}(\d+) of \1 hold\nPASS\n/);
      expect(isPass).to.equal(true);
    });

  it('fails when an operation is too slow', async () => {
    const { stdout, isPass } = await runLoad(new URL('barrier.js', folder), { ...environment, P95: '0' });
    expect(stdout).to.include('FAIL: http_req_duration{operation:arrive} p(95)<0');
    expect(isPass).to.equal(false);
  });

  it('fails with the error when every request is refused', async () => {
    const { said, isPass } = await runLoad(new URL('barrier.js', folder), {
      ...environment,
      MUSTER_KEY: 'mk_wrong',
    });
    expect(said.join('\n')).to.include('401').and.to.include('INVALID_API_KEY');
    expect(isPass).to.equal(false);
  });

  it('waits when a rate limit refuses a request, repeats it, and counts these', async () => {
    const world = await World.create({ limits: { requestsPerMinute: 8 } });
    // Half a second before the end of the minute, so that Retry-After is one second.
    await world.at(Math.ceil(Date.now() / 60_000) * 60_000 - 500);
    const { store } = world.service;
    const refused = async () => /errorstat_RATE_LIMITED:.*/.exec(await store.info('errorstats'))?.[0] ?? '';
    const before = await refused();
    const running = runLoad(new URL('mailbox.js', folder), settings(world));
    await until(async () => (await refused()) !== before);
    await world.call('PUT', '/limits', { requestsPerMinute: 100_000 });
    const { stdout } = await running;
    expect(stdout).to.match(/held back {3}[1-9]\d* times/);
  });
});

function settings(access: Pick<World, 'url' | 'apiKey' | 'spaceId'>): Record<string, string> {
  const { url, apiKey, spaceId } = access;
  return { MUSTER_URL: url, MUSTER_KEY: apiKey, MUSTER_SPACE: spaceId, VUS: '2', DURATION: '0.2s', P95: '5000' };
}
