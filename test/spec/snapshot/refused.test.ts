import { expect } from 'chai';
import { failure, record } from '../../support/cli.ts';
import { OwnStore } from '../../support/own-store.ts';
import { Processes, until } from '../../support/processes.ts';

describe('Snapshots that the store may not make', () => {
  const processes = new Processes();
  let ownStore: OwnStore;
  before(async () => {
    ownStore = await OwnStore.start();
  });
  after(async () => {
    await processes.clear();
    await ownStore.stop();
  });

  it('are reported once by the worker, and by snapshot create with what to do instead', async () => {
    const { store: redis } = await ownStore.admin();
    await redis.call('ACL', 'SETUSER', 'default', '-bgsave');
    const remote = { REDIS_URL: ownStore.url, DATA_DIR: await processes.folder() };
    const worker = await processes.start({ ...remote, SNAPSHOT_INTERVAL_SECONDS: '1', ROLE: 'worker' }).ready();
    const { code, message } = await failure(['snapshot', 'create'], remote);
    expect(code).to.equal('SNAPSHOTS_UNAVAILABLE');
    expect(message).to.match(
      /^no snapshots of this store: the server does not allow it \(NOPERM .*redis-cli -u <REDIS_URL> --rdb <file>$/,
    );
    // Attempted by the command and by two jobs.
    await until(async () => Number(((await redis.call('ACL', 'LOG')) as [string[]])[0][1]) >= 3);
    const { status, stderr } = await worker.end('SIGTERM');
    expect(status).to.equal(0);
    expect(stderr.match(/no snapshots of this store/g)).to.have.length(1);
    await redis.call('ACL', 'SETUSER', 'default', '+bgsave');
    await record(['snapshot', 'create'], remote);
  });
});
