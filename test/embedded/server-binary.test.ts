import { chmod, mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { findRedisServer, type RedisServer, setUp } from '../../src/embedded/server-binary.ts';

const SYSTEM = '/usr/bin:/bin:/usr/sbin:/sbin';

describe('finding a redis-server', () => {
  let base = '';
  let lines: string[] = [];
  const log = (line: string) => lines.push(line);

  beforeEach(async () => {
    lines = [];
    base = await mkdtemp(join(tmpdir(), 'muster-test-'));
  });
  afterEach(() => rm(base, { recursive: true, force: true }));

  /** A program that only prints its version. */
  async function fake(path: string, version: string): Promise<string> {
    const file = join(base, path);
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, `#!/bin/sh\necho '${version}'\n`);
    await chmod(file, 0o755);
    return file;
  }

  function find(env: NodeJS.ProcessEnv): Promise<RedisServer> {
    return findRedisServer({ log, env, folder: join(base, '.redis') });
  }

  async function failure(promise: Promise<unknown>): Promise<string> {
    const error = await promise.then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).to.be.an('error');
    return (error as Error).message;
  }

  it('prefers the one in REDIS_SERVER', async () => {
    const command = await fake('own/mine', 'Redis server v=7.4.1 sha=00000000:0 malloc=libc bits=64 build=0');
    const other = await fake('bin/redis-server', 'Redis server v=8.0.0 sha=00000000:0');
    const server = await find({ REDIS_SERVER: ` ${command} `, PATH: join(base, 'bin') });
    expect(server).to.include({ command, version: '7.4.1' });
    expect(await find({ REDIS_SERVER: ' ', PATH: join(base, 'bin') }), 'unset').to.include({ command: other });
  });

  it('reports in one line that REDIS_SERVER cannot be used', async () => {
    const nothing = join(base, 'nonsense');
    expect(await failure(find({ REDIS_SERVER: nothing }))).to.match(/^REDIS_SERVER=\/.*\/nonsense cannot be used: .*$/);
    const old = await fake('old', 'Redis server v=6.2.14 sha=00000000:0');
    expect(await failure(find({ REDIS_SERVER: old }))).to.match(/^REDIS_SERVER=.* version is 6\.2\.14, and 7 .*$/);
    const other = await fake('other', 'version 9.9.9');
    expect(await failure(find({ REDIS_SERVER: other }))).to.match(
      /^REDIS_SERVER=.* does not name a Redis or Valkey.*$/,
    );
  });

  it('reports in one line how the program in REDIS_SERVER exited, with its last line of output', async () => {
    const path = await fake('broken', '');
    const ends: [script: string, end: string][] = [
      ['exit 1', 'exited with status 1 and printed nothing'],
      [
        'echo loading; echo libssl.so.3: not found >&2; exit 127',
        'exited with status 127 and printed "libssl.so.3: not found"',
      ],
      ['kill -9 $$', 'was killed by SIGKILL and printed nothing'],
    ];
    for (const [script, end] of ends) {
      await writeFile(path, `#!/bin/sh\n${script}\n`);
      const message = await failure(find({ REDIS_SERVER: path }));
      expect(message).to.equal(`REDIS_SERVER=${path} cannot be used: --version ${end}`);
    }
  });

  it('skips an old version on PATH and accepts a Valkey', async () => {
    const old = await fake('a/redis-server', 'Redis server v=6.0.16 sha=00000000:0');
    const command = await fake('b/valkey-server', 'Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64');
    const server = await find({ PATH: `${join(base, 'a')}:${join(base, 'b')}` });
    expect(server).to.include({ command, version: '8.1.1' });
    expect(lines).to.deep.equal([`skipping ${old}: its version is 6.0.16, and 7 or newer is needed`]);
  });

  it('uses a newer version that comes later on PATH', async () => {
    await fake('a/redis-server', 'Redis server v=6.0.16 sha=00000000:0');
    const command = await fake('b/redis-server', 'Redis server v=7.0.15 sha=00000000:0');
    expect(await find({ PATH: `${join(base, 'a')}:${join(base, 'b')}` })).to.include({ command, version: '7.0.15' });
  });

  it('reports in one line what to install if there is no apt', async () => {
    const message = await failure(find({ PATH: join(base, 'bin') }));
    expect(message).to.match(/^no usable redis-server.*brew install redis.*REDIS_SERVER.*REDIS_URL.*$/);
  });

  it('reports the error of apt in one line, and leaves nothing behind', async () => {
    const apt = await fake('bin/apt-get', '');
    await writeFile(apt, "#!/bin/sh\necho 'E: Unable to locate package redis-server' >&2; exit 100\n");
    await fake('bin/dpkg-deb', '');
    for (const name of ['of-the-killed', 'of-another']) await fake(`.redis/work-${name}/file`, '');
    await utimes(join(base, '.redis/work-of-the-killed'), 0, 0);
    const message = await failure(find({ PATH: join(base, 'bin') }));
    expect(message).to.match(/^no usable.*\(E: Unable to locate package redis-server\): install Redis 7.*$/);
    expect(await readdir(join(base, '.redis'))).to.deep.equal(['work-of-another']);
  });

  it("downloads the distribution's without root, once, also for two concurrent starts", async () => {
    const folder = join(base, '.redis');
    const env = { ...process.env, PATH: SYSTEM };
    const both = await Promise.all([setUp(folder, env, log), setUp(folder, env, log)]);
    for (const server of both) {
      expect(server.command).to.equal(join(folder, 'root/usr/bin/redis-server'));
      expect(Number.parseInt(server.version, 10)).to.be.at.least(7);
    }
    expect(await readdir(folder)).to.deep.equal(['root']);
    expect(lines[0]).to.match(/^no redis-server 7 or newer found: downloading .* \(no root needed\)$/);
    expect(lines.at(-1)).to.match(/^redis-server \S+ is ready in .* \(\d+ packages, \d+\.\d s\)$/);

    lines = [];
    expect(await find({ PATH: join(base, 'bin') })).to.include({ command: both[0].command });
    expect(lines).to.deep.equal([]);
  });

  it('gives a downloaded one its libraries, including those in private folders', async () => {
    await fake('.redis/root/usr/bin/redis-server', 'Redis server v=7.0.15 sha=00000000:0');
    const shared = join(base, '.redis/root/usr/lib/x86_64-linux-gnu');
    for (const file of ['libsound.so.0', 'sound/libsoundcommon-16.1.so', 'modules/README']) {
      await mkdir(join(shared, file, '..'), { recursive: true });
      await writeFile(join(shared, file), '');
    }
    const { env } = await find({ PATH: join(base, 'bin'), LD_LIBRARY_PATH: '/opt/lib' });
    expect(env['LD_LIBRARY_PATH']).to.equal(`${shared}:${shared}/sound:/opt/lib`);
  });

  it('downloads it again if the earlier download no longer runs', async () => {
    const earlier = await fake('.redis/root/usr/bin/redis-server', 'cannot open shared object file');
    const apt = await fake('bin/apt-get', '');
    const download = `IFS='='; set -- $word; : > "$2/archives/redis-server_7.deb"`;
    await writeFile(apt, `#!/bin/sh\nfor word; do case "$word" in Dir::Cache=*) ${download};; esac; done\n`);
    const unpacked = await fake('unpacked/usr/bin/redis-server', 'Redis server v=7.0.15 sha=00000000:0');
    const unpack = await fake('bin/dpkg-deb', '');
    await writeFile(unpack, `#!/bin/sh\nmkdir -p "$3/usr/bin" && cp '${unpacked}' "$3/usr/bin"\n`);
    const server = await setUp(join(base, '.redis'), { PATH: `${join(base, 'bin')}:${SYSTEM}` }, log);
    expect(server).to.include({ command: earlier, version: '7.0.15' });
  });
});
