import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endAtExit } from '../../../src/external-programs/at-exit.ts';
import type { ProgramKind } from '../../../src/external-programs/find.ts';
import { findInstalled, kindOf } from '../../support/debian.ts';
import { until } from '../../support/processes.ts';

const nginx = kindOf('nginx', 'usr/sbin/nginx', '-v', /nginx\/(\d+[\d.]*)/);
const haproxy = kindOf('haproxy', 'usr/sbin/haproxy', '-v', /HAProxy version (\d+[\d.]*)/);

export interface RunningProxy {
  readonly url: string;
  /** What it has printed so far. */
  readonly said: () => string;
  stop(): Promise<void>;
}

/** An nginx with these lines in its block `http`, in which `PORT` stands for a free port. All else is as it comes. */
export async function startNginx(http: string): Promise<RunningProxy> {
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
  const config = `daemon off; pid nginx.pid; error_log stderr; events {}
    http { access_log off; ${places.join(' ')} ${http} }`;
  return start(nginx, config, (folder, file) => ['-p', folder, '-c', file, '-e', 'stderr']);
}

/** An HAProxy with this configuration, in which `PORT` stands for a free port. */
export function startHaproxy(config: string): Promise<RunningProxy> {
  return start(haproxy, config, (_, file) => ['-db', '-f', file]);
}

async function start(
  kind: ProgramKind,
  config: string,
  argsOf: (folder: string, file: string) => string[],
): Promise<RunningProxy> {
  const { command, env } = await findInstalled(kind);
  const folder = await mkdtemp(join(tmpdir(), `muster-${kind.label}-`));
  const port = await freePort();
  const file = join(folder, 'proxy.conf');
  await mkdir(join(folder, 'logs'));
  await writeFile(file, config.replaceAll('PORT', String(port)));
  const server = spawn(command, argsOf(folder, file), { env, stdio: ['ignore', 'pipe', 'pipe'] });
  endAtExit(server);
  let said = '';
  for (const stream of [server.stdout, server.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const closed = once(server, 'close');
  const url = `http://127.0.0.1:${port}`;
  await until(async () => {
    if (server.exitCode !== null) throw new Error(`${kind.label} has ended: ${said}`);
    return fetch(url).then(
      () => true,
      () => false,
    );
  });
  const stop = async (): Promise<void> => {
    server.kill('SIGTERM');
    await closed;
    await rm(folder, { recursive: true });
  };
  return { url, said: () => said, stop };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}
