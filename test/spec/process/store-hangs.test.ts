import { join } from 'node:path';
import { expect } from 'chai';
import { pidOfServer } from '../../embedded/support.ts';
import { breakingProxy } from '../../support/breaking-proxy.ts';
import { OwnStore } from '../../support/own-store.ts';
import { Processes, until } from '../../support/processes.ts';

describe('A process whose store hangs', () => {
  const processes = new Processes();
  after(() => processes.clear());

  // First the connection of the subscription, then the one on which the worker writes its job schedules.
  it('in the middle of the start shuts down all the same', async () => {
    const stands = async (hanging: number): Promise<void> => {
      const ownStore = await OwnStore.start();
      const pid = await pidOfServer(ownStore.url);
      const at = join(ownStore.dataDir, 'hangs');
      let hangs = false;
      const { server } = await breakingProxy(ownStore.url, at, (connection) => {
        if (connection === hanging && !hangs) hangs = process.kill(pid, 'SIGSTOP');
        return true;
      });
      const starting = processes.start({ REDIS_URL: `unix://${at}`, DATA_DIR: ownStore.dataDir });
      await until(() => hangs);
      const { status } = await starting.end('SIGTERM');
      process.kill(pid, 'SIGCONT');
      server.close();
      await ownStore.stop();
      expect(status, `connection ${hanging}`).to.equal(0);
    };
    await Promise.all([3, 5].map(stands));
  });
});
