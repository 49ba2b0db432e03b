import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../../src/config.ts';
import { startEmbedded } from '../../../src/embedded/embedded.ts';
import { isAlive } from '../../../src/embedded/process-identity.ts';
import { serve } from '../../../src/serve.ts';
import { listSnapshots, snapshotFolder } from '../../../src/snapshot/folder.ts';
import { ask } from '../../embedded/support.ts';
import { isBuilt } from '../../readme/reader.ts';
import { Pace } from '../../support/pace.ts';
import { call, type MusterProcess, messagesOf, Processes, until } from '../../support/processes.ts';

const recordIn = (folder: string): Promise<string> => readFile(join(folder, 'server.json'), 'utf8').catch(() => '');

/** npm says nothing itself. */
const ofNpm = { ...isBuilt, npm_config_loglevel: 'error' };

const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';

describe('Start and shutdown of a process', () => {
  const processes = new Processes();
  afterEach(() => processes.clear());
  const startOnOwnFolder = async (settings: Record<string, string> = {}): Promise<MusterProcess> =>
    processes.start({ DATA_DIR: await processes.folder(), ...settings }).ready();

  it('on SIGTERM, also to npm start, answers requests in flight, ends held requests with their empty answers, and exits 0', async () => {
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
    const pace = await Pace.begin();
    const sends = Array.from({ length: 100 }, (_, n) =>
      call(url, access, `/mailboxes/${mailbox}/messages`, { scopeId, payload: n }).catch(() => null),
    );
    await Promise.race(sends);

    const begun = performance.now();
    const { status, stderr } = await muster.end('SIGTERM');
    expect(status).to.equal(0);
    await pace.expect(performance.now() - begun, 4000);
    expect(stderr).to.equal('');
    agent.destroy();
    expect(await fetch(`${url}/healthz`).catch(() => 'nobody listens')).to.equal('nobody listens');
    for (const answer of await Promise.all(held)) expect(answer.status).to.equal(204);
    expect((await watch).status).to.equal(200);
    // No answer was cut off: each send was answered or not accepted.
    for (const answer of await Promise.all(sends)) if (answer) expect(answer.status).to.equal(201);
  });

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

  it('completes within 10 s despite a request that never ends and a store that is away; a second SIGTERM or SIGINT exits 1 at once', async () => {
    const unending = async (muster: MusterProcess) => {
      const { hostname, port } = new URL(muster.url);
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      const head =
        'POST /v1/spaces/x/mailboxes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{';
      socket.write(head);
      await until(async () => (await fetch(`${muster.url}/healthz`)).status === 200);
      return socket;
    };
    const store = await startEmbedded({ dataDir: await processes.folder(), log: () => undefined });
    const [patient, hurried] = await Promise.all([
      startOnOwnFolder({ REDIS_URL: store.socketPath }),
      startOnOwnFolder(),
    ]);
    await Promise.all([unending(patient), unending(hurried)]);
    await store.stop();
    const pace = await Pace.begin();
    const begun = performance.now();
    patient.signal('SIGTERM');
    hurried.signal('SIGTERM');
    const again = setInterval(() => hurried.signal('SIGINT'), 100);
    expect((await hurried.ended).status).to.equal(1);
    clearInterval(again);
    const hurriedMs = performance.now() - begun;
    expect((await patient.ended).status).to.equal(0);
    await pace.expect(performance.now() - begun, 9000);
    await pace.expect(hurriedMs, 3000);
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
      [{ SNAPSHOT_INTERVAL_SECONDS: '0' }, /^SNAPSHOT_INTERVAL_SECONDS: .*$/],
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

  it('lets ROLE=api and ROLE=worker share one DATA_DIR and end in any order; METRICS_PORT prints where the metrics are', async () => {
    const DATA_DIR = await processes.folder();
    const api = processes.start({ DATA_DIR, ROLE: 'api' });
    const worker = processes.start({ DATA_DIR, ROLE: 'worker', METRICS_PORT: '0' });
    await Promise.all([api.ready(), worker.ready()]);
    const [, metrics = ''] = /^metrics on (http:.*\/metrics)$/m.exec(worker.stdout) ?? [];
    expect((await fetch(metrics)).status).to.equal(200);
    const { url, access } = api;
    const mailbox = (await call(url, access, '/mailboxes', { name: 'jobs' })).body.id;
    const deadline = new Date(Date.now() + 500).toISOString();
    await call(url, access, `/mailboxes/${mailbox}/messages`, { scopeId, payload: 1, deadline });
    const ready = async (at: string) =>
      (await call(at, access, `/mailboxes/${mailbox}/messages?state=READY`)).body.messages.length;
    expect(await ready(url)).to.equal(1);
    // Reads never write: only the worker can expire the message.
    await until(async () => (await ready(url)) === 0);
    const { nextCursor } = (await call(url, access, '/events')).body;

    expect((await api.end('SIGTERM')).status).to.equal(0);
    expect((await worker.end('SIGTERM')).status).to.equal(0);
    const again = await processes.start({ DATA_DIR }).ready();
    expect(await ready(again.url)).to.equal(0);
    expect((await call(again.url, access, `/events?cursor=${nextCursor}`)).status).to.equal(200);
    expect(again.stderr).to.equal('');
  });

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

  it('creates organization, space and key once a store that refuses calls at the first start accepts them; ends at several signals as at one', async () => {
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
