import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProgramKind } from '../../../../src/external-programs/find.ts';
import { findServer, freePort, listens, makeFolder, type Store, startServer } from './store.ts';

const natsServer: ProgramKind = {
  label: 'nats-server',
  wanted: 'nats-server',
  variable: 'NATS_SERVER',
  names: ['nats-server'],
  packages: ['nats-server'],
  path: 'usr/sbin/nats-server',
  versionIn: (printed) => /v(\d\S*)/.exec(printed)?.[1] ?? 'unknown',
  whatToDo: 'install nats-server, or set NATS_SERVER to the program',
};

/** The first version whose sync_interval can be set; before it, files are synced every two minutes. */
const SETTABLE = [2, 10];

function isSettable(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > (SETTABLE[0] ?? 0) || (major === SETTABLE[0] && minor >= (SETTABLE[1] ?? 0));
}

/** JetStream with file storage. */
export async function startNats(): Promise<Store> {
  const program = await findServer(natsServer);
  const { folder, as } = await makeFolder();
  const port = await freePort();
  const settable = isSettable(program.version);
  const config = join(folder, 'nats.conf');
  const sync = settable ? ', sync_interval: "1s"' : '';
  await writeFile(config, `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${folder}"${sync} }\n`);
  if (as.uid !== undefined && as.gid !== undefined) await chown(config, as.uid, as.gid);
  const server = await startServer({
    program,
    folder,
    as,
    args: ['-c', config],
    signal: 'SIGTERM',
    isReady: () => listens({ port, host: '127.0.0.1' }),
  });
  return { ...server, address: `127.0.0.1:${port}`, durability: settable ? 'file, fsync 1 s' : 'file, fsync 2 min' };
}
