import { join } from 'node:path';
import { expect } from 'chai';
import { isRunning, pidOfServer } from '../../embedded/support.ts';
import { Processes, until } from '../../support/processes.ts';

describe('The embedded store of a DATA_DIR', () => {
  const processes = new Processes();
  afterEach(() => processes.clear());

  it('belongs to one server: a second one says so in one line, names REDIS_URL and ends with status 1', async () => {
    const DATA_DIR = await processes.folder();
    const owner = await processes.start({ DATA_DIR }).ready();
    const second = await processes.start({ DATA_DIR }).ended;
    expect(second).to.include({ status: 1, stdout: '' });
    const { msg } = JSON.parse(second.stderr);
    expect(msg).to.match(
      new RegExp(`^DATA_DIR: ${DATA_DIR} belongs to the running process ${owner.pid}: .* or set REDIS_URL to`),
    );
    for (const ROLE of ['api', 'worker']) {
      const apart = await processes.start({ DATA_DIR, ROLE }).ended;
      expect(apart.status).to.equal(1);
      expect(JSON.parse(apart.stderr).msg).to.match(/^REDIS_URL is missing: with ROLE=/);
    }
    expect((await fetch(`${owner.url}/readyz`)).status).to.equal(200);
    const command = processes.start({ DATA_DIR }, ['org', 'list'], [process.execPath, 'dist/cli/main.js']);
    expect(await command.ended).to.include({ status: 0, stderr: '' });
  });

  it('is taken over by the next server after its owner was killed', async () => {
    const DATA_DIR = await processes.folder();
    const owner = await processes.start({ DATA_DIR }).ready();
    const pid = await pidOfServer(join(DATA_DIR, 'redis.sock'));
    await owner.end('SIGKILL');
    expect(isRunning(pid)).to.equal(true);
    const next = await processes.start({ DATA_DIR }).ready();
    expect(await pidOfServer(join(DATA_DIR, 'redis.sock'))).to.equal(pid);
    const { apiKey, spaceId } = owner.access;
    const headers = { Authorization: `Bearer ${apiKey}` };
    expect((await fetch(`${next.url}/v1/spaces/${spaceId}/scopes`, { headers })).status).to.equal(200);
    expect(await next.end('SIGTERM')).to.include({ status: 0, stderr: '' });
    await until(() => !isRunning(pid));
  });
});
