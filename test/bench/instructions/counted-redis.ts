// The embedded redis-server of a checkout under callgrind, which counts the instructions of its process.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import type { Tree } from './tree.ts';

const run = promisify(execFile);

const DUMPS = 'callgrind.out';
const PIPES = 'vgdb';

/** Settings on top of an embedded server's: they turn off work that only happens now and then. */
const SETTINGS = {
  appendonly: 'no',
  save: '',
  hz: '1',
  'dynamic-hz': 'no',
  activedefrag: 'no',
  activerehashing: 'no',
  'io-threads': '1',
  // Every call is slow under callgrind: it must neither be logged as slow nor count as hung.
  'slowlog-log-slower-than': '-1',
  'busy-reply-threshold': '0',
};

export class CountedRedis {
  readonly socketPath: string;
  readonly version: string;
  /** For the calls that are counted. */
  readonly client: Redis;
  readonly #folder: string;
  readonly #stop: () => Promise<void>;

  private constructor(folder: string, socketPath: string, version: string, stop: () => Promise<void>) {
    this.#folder = folder;
    this.socketPath = socketPath;
    this.version = version;
    this.client = new Redis({ path: socketPath, protocol: 2 });
    this.#stop = stop;
  }

  /** Throws an error of one line if valgrind is not installed. */
  static async start(tree: Tree): Promise<CountedRedis> {
    await run('valgrind', ['--version']).catch(() => {
      throw new Error('valgrind is not on PATH: install it (apt install valgrind)');
    });
    const folder = await mkdtemp(join(tmpdir(), 'muster-instructions-'));
    try {
      const log = (line: string): void => console.error(line);
      const program = await tree.findRedisServer({ log });
      const command = join(folder, 'redis-server');
      await writeFile(command, script(folder, program.command), { mode: 0o700 });
      const { socketPath, stop } = await tree.startEmbedded({
        dataDir: join(folder, 'data'),
        program: { ...program, command },
        settings: SETTINGS,
        log,
      });
      return new CountedRedis(folder, socketPath, program.version, stop);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** The server's instructions during `work`, without those of its cron. */
  async count(work: () => Promise<void>): Promise<number> {
    await this.#command('instrumentation', 'on');
    // A cron that is due right now would be counted: callgrind does not know yet in which function the server is.
    await this.client.ping();
    await this.#command('zero');
    await work();
    await this.#command('dump');
    await this.#command('instrumentation', 'off');
    return this.#takeDump();
  }

  async stop(): Promise<void> {
    this.client.disconnect();
    await this.#stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #command(...words: string[]): Promise<void> {
    await run('vgdb', [prefix(this.#folder), ...words]);
  }

  async #takeDump(): Promise<number> {
    const names = (await readdir(this.#folder)).filter((name) => name.startsWith(`${DUMPS}.`));
    const [name] = names;
    if (name === undefined || names.length > 1) throw new Error(`callgrind has left ${names.length} dumps, not one`);
    const path = join(this.#folder, name);
    const total = /^totals: (\d+)$/m.exec(await readFile(path, 'utf8'))?.[1];
    await rm(path);
    if (total === undefined) throw new Error('a dump of callgrind has no totals');
    return Number(total);
  }
}

function prefix(folder: string): string {
  return `--vgdb-prefix=${join(folder, PIPES)}`;
}

/** Leaves the cron out: it runs once a second by the wall clock, so its share says nothing about a call. */
function script(folder: string, server: string): string {
  const words = [
    'valgrind',
    '--tool=callgrind',
    '--instr-atstart=no',
    '--toggle-collect=serverCron',
    '--collect-atstart=yes',
    `--callgrind-out-file=${join(folder, DUMPS)}`,
    `--log-file=${join(folder, 'valgrind.log')}`,
    prefix(folder),
    server,
  ];
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  return `#!/bin/sh\nexec ${quoted} "$@"\n`;
}
