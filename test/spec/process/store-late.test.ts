import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { startEmbedded } from '../../../src/embedded/embedded.ts';
import { listSnapshots, snapshotFolder } from '../../../src/jobs/snapshot/folder.ts';
import { ask } from '../../embedded/support.ts';
import { type MusterProcess, Processes, until } from '../../support/processes.ts';

describe('A process whose store is not up yet', () => {
  const processes = new Processes();
  afterEach(() => processes.clear());

  it('waits for a Redis that is not up yet, with a log line; SIGTERM ends the wait; logs its loss and return', async () => {
    const [dataDir, DATA_DIR] = [await processes.folder(), await processes.folder()];
    const REDIS_URL = join(dataDir, 'redis.sock');
    const settings = { REDIS_URL, DATA_DIR, SNAPSHOT_INTERVAL_SECONDS: '1', LOG_LEVEL: 'info' };
    const [muster, given] = [processes.start(settings), processes.start(settings)];
    const isWaiting = (one: MusterProcess) =>
      /^waiting for the store \(connect ENOENT .*\), giving up in \d+ s$/.test(one.said.join('\n'));
    await until(() => isWaiting(muster) && isWaiting(given));
    expect((await given.end('SIGTERM')).status).to.equal(0);
    const redis = await startEmbedded({ dataDir, log: () => undefined });
    await muster.ready();
    const libraries = (await ask(REDIS_URL, 'FUNCTION', 'LIST')).match(/library_name/g);
    expect(libraries).to.have.lengthOf(1);
    expect((await fetch(`${muster.url}/readyz`)).status).to.equal(200);
    await until(async () => (await listSnapshots(snapshotFolder(DATA_DIR))).length > 0);
    process.kill(Number(/process_id:(\d+)/.exec(await ask(REDIS_URL, 'INFO', 'server'))?.[1]), 'SIGKILL');
    await until(() => muster.said.includes('the store is back'));
    expect(muster.said).to.include('the store cannot be reached: requests that need it get a 503 until it is back');
    expect((await muster.end('SIGTERM')).status).to.equal(0);
    expect(await readdir(dataDir), 'the file of a store that is not ours').to.include('dump.rdb');
    expect(await readdir(DATA_DIR), 'no store was started').to.deep.equal(['snapshots']);
    await redis.stop();
  });
});
