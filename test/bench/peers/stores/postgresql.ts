import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { ProgramKind } from '../../../../src/external-programs/find.ts';
import { findServer, makeFolder, type Store, startServer } from './store.ts';

const run = promisify(execFile);
/** Where Debian keeps PostgreSQL's programs, outside PATH: a folder per major version. */
const VERSIONS = 'usr/lib/postgresql';

const postgresql: ProgramKind = {
  label: 'postgresql',
  wanted: 'postgres',
  variable: 'POSTGRES',
  names: ['postgres'],
  packages: ['postgresql'],
  path: async (root) => `${VERSIONS}/${(await readdir(join(root, VERSIONS))).at(-1)}/bin/postgres`,
  versionIn: (printed) => /\(PostgreSQL\) (\S+)/.exec(printed)?.[1] ?? 'unknown',
  whatToDo: 'install PostgreSQL, or set POSTGRES to its postgres program',
};

/** Adds Debian's installed versions to PATH. */
async function environment(): Promise<NodeJS.ProcessEnv> {
  const versions = await readdir(join('/', VERSIONS)).catch(() => [] as string[]);
  const folders = versions.reverse().map((version) => join('/', VERSIONS, version, 'bin'));
  return { ...process.env, PATH: [...folders, process.env['PATH']].join(delimiter) };
}

/** A cluster of its own on a unix socket. With `synchronous_commit` off, up to 0.6 s of answered writes may be lost. */
export async function startPostgresql(synchronousCommit: 'on' | 'off'): Promise<Store> {
  const program = await findServer(postgresql, await environment());
  const { folder, as } = await makeFolder();
  const programNamed = (name: string) => join(dirname(program.command), name);
  const data = join(folder, 'data');
  const how = { ...as, env: program.env, cwd: folder };
  await run(programNamed('initdb'), ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--locale=C'], how);
  const settings = {
    listen_addresses: '',
    unix_socket_directories: folder,
    max_connections: '200',
    timezone: 'UTC',
    synchronous_commit: synchronousCommit,
  };
  const server = await startServer({
    program,
    folder,
    as,
    args: ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    signal: 'SIGINT',
    isReady: () =>
      run(programNamed('pg_isready'), ['-h', folder], how).then(
        () => true,
        () => false,
      ),
  });
  return {
    ...server,
    address: `postgres:///postgres?user=bench&host=${encodeURIComponent(folder)}`,
    durability: `synchronous_commit ${synchronousCommit}`,
    // Autovacuum runs only once a minute, so chance would decide how bloated a queue's tables are, and how fast a run
    // is.
    tidy: () => run(programNamed('vacuumdb'), ['-h', folder, '-U', 'bench', '-z', '-q', 'postgres'], how),
  };
}
