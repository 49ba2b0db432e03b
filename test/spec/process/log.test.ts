import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { endAtExit } from '../../../src/external-programs/at-exit.ts';
import { freePort } from '../../fault/redis-server.ts';
import { exchange } from '../../support/exchange.ts';
import { Processes, until } from '../../support/processes.ts';

/** More log lines, of some 150 characters each, than a pipe holds. */
const requests = 600;

describe('A process whose output nobody reads', () => {
  const processes = new Processes();
  afterEach(() => processes.clear());

  const start = async (stdout: 'ignore' | number, stderr: 'pipe' | number) => {
    const [DATA_DIR, port] = [await processes.folder(), await freePort()];
    const env = { ...process.env, REDIS_URL: '', PORT: String(port), LOG_LEVEL: 'debug', DATA_DIR };
    const child = spawn(process.execPath, ['dist/main.js'], { env, stdio: ['ignore', stdout, stderr] });
    endAtExit(child);
    const request = (): Promise<number | undefined> =>
      exchange('GET', `http://127.0.0.1:${port}/readyz`, {}).then(
        ({ status }) => status,
        () => undefined,
      );
    const isReady = async () => (await request()) === 200 || child.exitCode !== null;
    await until(isReady);
    const stopped = async (): Promise<number | null> => {
      if (child.exitCode !== null) return child.exitCode;
      child.kill('SIGTERM');
      const [status] = await once(child, 'exit');
      return status;
    };
    return { child, DATA_DIR, request, isReady, stopped };
  };

  it('keeps serving and shuts down cleanly when the disk of its log is full', async () => {
    const full = openSync('/dev/full', 'w');
    const muster = await start(full, full);
    // Each writes a line, which fails.
    for (let sent = 0; sent < 50; sent++) expect(await muster.request()).to.equal(200);
    expect(await muster.stopped()).to.equal(0);
    closeSync(full);
  });

  it('keeps serving, restarts its store and shuts down cleanly when its reader is gone or stuck', async () => {
    const pipe = join(await processes.folder(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    // Opened for reading, too, but never read.
    const unread = openSync(pipe, 'r+');
    const [gone, stuck] = await Promise.all([start('ignore', 'pipe'), start('ignore', unread)]);
    gone.child.stderr?.destroy();
    const { server } = JSON.parse(await readFile(join(gone.DATA_DIR, 'server.json'), 'utf8'));
    process.kill(Number.parseInt(server, 10), 'SIGKILL');
    for (let sent = 0; sent < requests; sent += 50) await Promise.all(Array.from({ length: 50 }, stuck.request));
    expect(await stuck.request()).to.equal(200);
    await until(gone.isReady);
    expect([await gone.stopped(), await stuck.stopped()]).to.deep.equal([0, 0]);
    closeSync(unread);
  });
});
