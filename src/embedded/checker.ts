import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { RedisServer } from './server-binary.ts';

/**
 * Runs one of Redis' own checkers on a file. Its program is the server's, which behaves by the name it is called by.
 *
 * @returns all that it printed
 */
export async function outputOf(
  checker: 'redis-check-aof' | 'redis-check-rdb',
  path: string,
  { command, env }: RedisServer,
  signal?: AbortSignal,
): Promise<string> {
  const beside = join(dirname(command), checker);
  const [file, argv0] = existsSync(beside) ? [beside, beside] : [command, checker];
  const child = spawn(file, [path], { env, argv0, stdio: ['ignore', 'pipe', 'pipe'], signal });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return output + errors;
}
