import { join } from 'node:path';
import type { ProgramKind } from '../../../../src/external-programs/find.ts';
import { findServer, listens, makeFolder, type Store, startServer } from './store.ts';

const beanstalkd: ProgramKind = {
  label: 'beanstalkd',
  wanted: 'beanstalkd',
  variable: 'BEANSTALKD',
  names: ['beanstalkd'],
  packages: ['beanstalkd'],
  path: 'usr/bin/beanstalkd',
  versionFlag: '-v',
  versionIn: (printed) => /beanstalkd (\S+)/.exec(printed)?.[1] ?? 'unknown',
  whatToDo: 'install beanstalkd, or set BEANSTALKD to the program',
};

/** With its log on disk, synced as often as Muster's. */
export async function startBeanstalkd(): Promise<Store> {
  const program = await findServer(beanstalkd);
  const { folder, as } = await makeFolder();
  const address = join(folder, 'socket');
  const server = await startServer({
    program,
    folder,
    as,
    args: ['-l', `unix:${address}`, '-b', folder, '-f', '1000'],
    signal: 'SIGTERM',
    isReady: () => listens({ path: address }),
  });
  return { ...server, address, durability: 'binlog, fsync 1 s' };
}
