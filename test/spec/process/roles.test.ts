import { join } from 'node:path';
import { expect } from 'chai';
import { isRunning, pidOfServer } from '../../embedded/support.ts';
import { call, Processes, until } from '../../support/processes.ts';

const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';

describe('Processes of different roles on one DATA_DIR', () => {
  const processes = new Processes();
  afterEach(() => processes.clear());

  it('ROLE=api and ROLE=worker share one DATA_DIR and end in any order', async () => {
    const DATA_DIR = await processes.folder();
    const api = await processes.start({ DATA_DIR, ROLE: 'api' }).ready();
    const worker = await processes.start({ DATA_DIR, ROLE: 'worker', METRICS_PORT: '0' }).ready();
    const [, metrics = ''] = /^metrics on (http:.*\/metrics)$/m.exec(worker.stdout) ?? [];
    expect((await fetch(metrics)).status).to.equal(200);
    const { url, access } = api;
    const mailbox = (await call(url, access, '/mailboxes', { name: 'jobs' })).body.id;
    const deadline = new Date(Date.now() + 3_000).toISOString();
    await call(url, access, `/mailboxes/${mailbox}/messages`, { scopeId, payload: 1, deadline });
    const ready = async (at: string) =>
      (await call(at, access, `/mailboxes/${mailbox}/messages?state=READY`)).body.messages.length;
    expect(await ready(url)).to.equal(1);
    // Reads never write: only the worker can expire the message.
    await until(async () => (await ready(url)) === 0);
    const { nextCursor } = (await call(url, access, '/events')).body;

    // The API started the store, and leaves it to the worker.
    const store = join(DATA_DIR, 'redis.sock');
    const pid = await pidOfServer(store);
    expect(await api.end('SIGTERM')).to.include({ status: 0, stderr: '' });
    expect(await pidOfServer(store)).to.equal(pid);
    expect(await worker.end('SIGTERM')).to.include({ status: 0, stderr: '' });
    await until(() => !isRunning(pid));
    const again = await processes.start({ DATA_DIR }).ready();
    expect(await ready(again.url)).to.equal(0);
    expect((await call(again.url, access, `/events?cursor=${nextCursor}`)).status).to.equal(200);
    expect(again.stderr).to.equal('');
  });
});
