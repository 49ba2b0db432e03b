import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { findProgram, type Program, type ProgramKind, setUp as setUpProgram } from '../external-programs/find.ts';
import { packagePath } from '../package.ts';

const OLDEST_MAJOR = 7;

const redisServer: ProgramKind = {
  label: 'redis-server',
  wanted: `redis-server ${OLDEST_MAJOR} or newer`,
  variable: 'REDIS_SERVER',
  names: ['redis-server', 'valkey-server'],
  packages: ['redis-server', 'redis-tools'],
  path: 'usr/bin/redis-server',
  versionIn: (printed) => {
    const version = /\b(?:Redis|Valkey) server v=(\d+[\d.]*)/i.exec(printed)?.[1];
    if (!version) throw new Error('its --version does not name a Redis or Valkey server');
    if (Number.parseInt(version, 10) < OLDEST_MAJOR) {
      throw new Error(`its version is ${version}, and ${OLDEST_MAJOR} or newer is needed`);
    }
    return version;
  },
  whatToDo:
    'install Redis 7 or newer (apt install redis-server, dnf install redis, apk add redis, brew install redis), ' +
    'or set REDIS_SERVER to a redis-server program, or REDIS_URL to a running Redis',
};

/** A working redis-server (or valkey-server), and the environment to run it in. */
export type RedisServer = Program;

interface FindOptions {
  log(line: string): void;
  /** read for REDIS_SERVER and PATH, and passed on to the server; default `process.env` */
  env?: NodeJS.ProcessEnv | undefined;
  /** where downloads are kept; default `.redis` in the project */
  folder?: string | undefined;
}

/**
 * Finds a redis-server of version 7 or newer: the one in REDIS_SERVER, one on PATH, or the project's own in `.redis/`,
 * downloaded from the distribution's packages on first use. Needs no root.
 *
 * @throws Error with one line saying what to install or set
 */
export async function findRedisServer(options: FindOptions): Promise<RedisServer> {
  const { log, env = process.env, folder = packagePath('.redis') } = options;
  return findProgram(redisServer, { log, env, folder });
}

/**
 * Downloads the distribution's redis-server into `folder`.
 *
 * @throws Error with one line saying what to install or set
 */
export async function setUp(folder: string, env: NodeJS.ProcessEnv, log: (line: string) => void): Promise<RedisServer> {
  return setUpProgram(redisServer, { log, env, folder });
}

/**
 * Runs one of Redis' own checkers on a file. It is the server's binary, whose behaviour depends on the name it is run under.
 *
 * @returns its whole output
 */
export async function outputOf(
  checker: 'redis-check-aof' | 'redis-check-rdb',
  path: string,
  { command, env }: RedisServer,
  signal?: AbortSignal,
): Promise<string> {
  const installed = join(dirname(command), checker);
  const [file, argv0] = existsSync(installed) ? [installed, installed] : [command, checker];
  const child = spawn(file, [path], { env, argv0, stdio: ['ignore', 'pipe', 'pipe'], signal });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return output + errors;
}
