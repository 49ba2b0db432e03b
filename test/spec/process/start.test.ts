import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../../src/config.ts';
import { startEmbedded } from '../../../src/embedded/embedded.ts';
import { serve } from '../../../src/serve.ts';
import { ask } from '../../embedded/support.ts';
import { call, messagesOf, Processes, until } from '../../support/processes.ts';

describe('Start of a process', () => {
  const processes = new Processes();
  afterEach(() => processes.clear());

  it('prints usage and settings for --help, one line for an unknown argument, and starts nothing', async () => {
    const DATA_DIR = join(await processes.folder(), 'data');
    const ended = (...args: string[]) => processes.start({ DATA_DIR }, args).ended;
    const [help, short, ...unknown] = await Promise.all([
      ended('--help'),
      ended('-h'),
      ended('--port', '1'),
      ended('serve'),
    ]);
    expect([help.status, help.stderr]).to.deep.equal([0, '']);
    expect(help.stdout).to.match(/^Usage: .*PORT .*REDIS_URL .*muster --help\n$/s);
    expect(short).to.deep.equal(help);
    for (const { status, stdout, stderr } of unknown) {
      expect([status, stdout]).to.deep.equal([1, '']);
      expect(messagesOf(stderr).join('\n')).to.match(/^unknown argument "(--port|serve)": .*--help.*$/);
    }
    expect(await readdir(DATA_DIR).catch(() => 'not made')).to.equal('not made');
  });

  it('fails with one clear line and exit status 1 for a bad setting, a port in use or a store in another format', async () => {
    const redis = await startEmbedded({ dataDir: await processes.folder(), log: () => undefined });
    await ask(redis.socketPath, 'SET', 'muster:format', '2');
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = String(typeof address === 'object' ? address?.port : 0);
    const lines: [Record<string, string>, RegExp][] = [
      [{ PORT: port }, new RegExp(`^127\\.0\\.0\\.1:${port} is in use: .*set PORT.*$`)],
      [{ PORT: '80800' }, /^PORT: "80800" cannot be used; it must be a whole number from 0 to 65535$/],
      [{ REDIS_URL: redis.socketPath }, /^the store is written in format 2, and .* format 3: run the version .*$/],
    ];
    const ends = await Promise.all(
      lines.map(async ([setting]) => processes.start({ DATA_DIR: await processes.folder(), ...setting }).ended),
    );
    other.close();
    expect(await ask(redis.socketPath, 'KEYS', '*')).to.equal('muster:format');
    await redis.stop();
    for (const [index, [, line]] of lines.entries()) {
      const [said = '', ...more] = messagesOf(ends[index]?.stderr ?? '');
      expect(said).to.match(line);
      expect(more).to.deep.equal([]);
      expect(ends[index]).to.include({ status: 1, stdout: '' });
    }
    // Found before anything is started, so a process of its own would only print them.
    const found: [Record<string, string>, RegExp][] = [
      [{ ROLE: 'both' }, /^ROLE: "both" cannot be used; it must be one of .*$/],
      [{ SNAPSHOT_KEEP: '0' }, /^SNAPSHOT_KEEP: .*$/],
      [{ REDIS_URL: 'localhost' }, /^REDIS_URL: .*$/],
      [{ DATA_DIR: '/dev/null' }, /^DATA_DIR: \/dev\/null cannot be used \(.*\); it must be a folder .*$/],
      [{ DATA_DIR: '/proc/muster' }, /^DATA_DIR: \/proc\/muster cannot be used \(.*\); it must be a folder .*$/],
      [{ REDIS_SERVER: '/nowhere' }, /^REDIS_SERVER=\/nowhere cannot be used: there is no such program$/],
    ];
    for (const [setting, line] of found) {
      const starts = async () => serve(readConfig({ ...setting, PORT: '0' }), AbortSignal.timeout(50_000));
      expect(await starts().catch((error: Error) => error.message)).to.match(line);
    }
  });

  it('the first start makes organization, space and key once a store that refuses calls accepts them', async () => {
    const DATA_DIR = await processes.folder();
    // Less than an empty server uses.
    const muster = await processes.start({ DATA_DIR, REDIS_MAXMEMORY: '1mb' }).ready();
    expect(muster.stdout).to.equal(`listening on ${muster.url}\n`);
    await until(() => muster.said.includes('the store takes no calls (OOM): requests get a 503 until it does'));
    await ask(join(DATA_DIR, 'redis.sock'), 'CONFIG', 'SET', 'maxmemory', '0');
    await until(() => /^export MUSTER_KEY=.*\n.*\n$/m.test(muster.stdout));
    expect((await call(muster.url, muster.access, '/limits')).status).to.equal(200);
    // Signals in quick succession are one, as Ctrl-C reaches npm start from the terminal, from npm and as a hangup.
    muster.signal('SIGHUP');
    expect((await muster.end('SIGINT')).status).to.equal(0);
  });

  it("exits with status 1 on an uncaught error, without printing the error's properties", async () => {
    // Thrown soon after the process listens for it.
    const fail = "setImmediate(()=>{throw Object.assign(new Error('oh'),{secret:1})})";
    const defect = `process.on('newListener',(name)=>name==='uncaughtException'&&${fail})`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(defect)}`;
    const { status, stderr } = await processes.start({ REDIS_URL: '/nowhere.sock', NODE_OPTIONS }).ended;
    expect(status).to.equal(1);
    expect(messagesOf(stderr).join('\n'))
      .to.match(/^fatal error: Error: oh\n/)
      .and.not.contain('secret: 1');
  });
});
