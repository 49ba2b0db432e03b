import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { isAlive } from '../../../src/embedded/process-identity.ts';
import { ask } from '../../embedded/support.ts';
import { isBuilt } from '../../readme/reader.ts';
import { call, Processes, until } from '../../support/processes.ts';

const recordIn = (folder: string): Promise<string> => readFile(join(folder, 'server.json'), 'utf8').catch(() => '');

/** npm says nothing itself. */
const ofNpm = { ...isBuilt, npm_config_loglevel: 'error' };

const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';

describe('Shutdown of a process', () => {
  const processes = new Processes();
  afterEach(() => processes.clear());

  it('SIGTERM lets requests in flight be answered, ends held ones with empty answers, and exits 0', async () => {
    const DATA_DIR = await processes.folder();
    const muster = await processes.start({ DATA_DIR, ...ofNpm }, [], ['npm', 'start']).ready();
    const { url, access } = muster;
    const mailbox = (await call(url, access, '/mailboxes', { name: 'jobs' })).body.id;
    const quiet = (await call(url, access, '/mailboxes', { name: 'quiet' })).body.id;
    const hold = () =>
      call(url, access, `/mailboxes/${quiet}/recv`, { scopeId, holder: 'a', holderSession: 's', waitSeconds: 30 });
    // An idle keep-alive connection.
    const agent = new Agent({ keepAlive: true });
    const [health] = await once(request(`${url}/healthz`, { agent }).end(), 'response');
    health.resume();
    await once(health, 'end');
    const held = Array.from({ length: 20 }, hold);
    const watch = call(url, access, '/watch?cursor=latest&types=budget.*&waitSeconds=30');
    await until(async () => (await call(url, access, '/limits')).status === 200);
    const sends = Array.from({ length: 100 }, (_, n) =>
      call(url, access, `/mailboxes/${mailbox}/messages`, { scopeId, payload: n }).catch(() => null),
    );
    await Promise.race(sends);

    const { status, stderr } = await muster.end('SIGTERM');
    expect(status).to.equal(0);
    expect(stderr).to.equal('');
    agent.destroy();
    expect(await fetch(`${url}/healthz`).catch(() => 'nobody listens')).to.equal('nobody listens');
    for (const answer of await Promise.all(held)) expect(answer.status).to.equal(204);
    expect((await watch).status).to.equal(200);
    // No answer was cut off: each send was answered or not accepted.
    for (const answer of await Promise.all(sends)) if (answer) expect(answer.status).to.equal(201);
  });

  it('shuts down cleanly on SIGTERM in the middle of a start, with its store', async () => {
    const libraries = (folder: string) => ask(join(folder, 'redis.sock'), 'FUNCTION', 'LIST').catch(() => '');
    for (const hasCome of [recordIn, libraries]) {
      const DATA_DIR = await processes.folder();
      const muster = processes.start({ DATA_DIR });
      await until(async () => (await hasCome(DATA_DIR)) !== '');
      const { server } = JSON.parse(await recordIn(DATA_DIR));
      expect(await muster.end('SIGTERM')).to.include({ status: 0, stderr: '' });
      expect([isAlive(server), await recordIn(DATA_DIR)]).to.deep.equal([false, '']);
    }
  });
});
