import { expect } from 'chai';
import { OwnStore } from '../../support/own-store.ts';
import { messagesOf, Processes } from '../../support/processes.ts';

describe('A Redis of your own', () => {
  const processes = new Processes();
  let store: OwnStore;
  before(async () => {
    store = await OwnStore.start();
  });
  after(async () => {
    await processes.clear();
    await store.stop();
  });
  const start = async (settings: Record<string, string> = {}) =>
    processes.start({ REDIS_URL: store.url, DATA_DIR: await processes.folder(), ...settings });

  it('is refused by APIs and workers with one line if it evicts keys, unless ALLOW_EVICTION is true', async () => {
    const { store: redis } = await store.admin();
    await redis.config('SET', 'maxmemory', '1gb');
    await redis.config('SET', 'maxmemory-policy', 'volatile-lru');
    for (const ROLE of ['api', 'worker']) {
      const { status, stdout, stderr } = await (await start({ ROLE })).ended;
      expect([status, stdout]).to.deep.equal([1, '']);
      const [said, ...more] = messagesOf(stderr);
      expect(said).to.match(/^the store evicts keys .*maxmemory-policy volatile-lru.*: set .* or ALLOW_EVICTION=true/);
      expect(more).to.deep.equal([]);
    }
    const allowed = await (await start({ ROLE: 'api', ALLOW_EVICTION: 'true' })).ready();
    expect(await allowed.end('SIGTERM')).to.include({ status: 0, stderr: '' });
    // Without a limit of memory nothing is ever evicted.
    await redis.config('SET', 'maxmemory', '0');
    const unlimited = await (await start({ ROLE: 'api' })).ready();
    expect(await unlimited.end('SIGTERM')).to.include({ status: 0, stderr: '' });
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
  });

  it('is taken with one warning if it keeps no log', async () => {
    const { store: redis } = await store.admin();
    await redis.config('SET', 'appendonly', 'no');
    const api = await (await start({ ROLE: 'api' })).ready();
    expect(await api.end('SIGTERM')).to.include({ status: 0 });
    const [said, ...more] = api.said;
    expect(said).to.match(/^the store keeps no log \(appendonly no\): .*/);
    expect(more).to.deep.equal([]);
  });
});
