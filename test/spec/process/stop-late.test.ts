import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { startEmbedded } from '../../../src/embedded/embedded.ts';
import { expectBefore } from '../../support/order.ts';
import { type MusterProcess, Processes, until } from '../../support/processes.ts';

describe('Shutdown of a process that something holds up', () => {
  const processes = new Processes();
  afterEach(() => processes.clear());
  const startOnOwnFolder = async (settings: Record<string, string> = {}): Promise<MusterProcess> =>
    processes.start({ DATA_DIR: await processes.folder(), ...settings }).ready();

  it('completes despite a request that never ends and a store that is away, and at once at a second signal', async () => {
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
      startOnOwnFolder({ REDIS_URL: store.socketPath, ROLE: 'api' }),
      startOnOwnFolder(),
    ]);
    const [unended] = await Promise.all([unending(patient), unending(hurried)]);
    // As fetch leaves one behind after an abort, and browsers open one ahead.
    const { hostname, port } = new URL(patient.url);
    const silent = connect(Number(port), hostname);
    await once(silent, 'connect');
    await store.stop();
    patient.signal('SIGTERM');
    hurried.signal('SIGTERM');
    const silentEnds = once(silent, 'close').then(() => unended.readyState);
    const again = setInterval(() => hurried.signal('SIGINT'), 100);
    const hurry = await expectBefore(hurried.ended, patient.ended, 'a second signal ends it at once');
    expect(hurry.status).to.equal(1);
    clearInterval(again);
    expect((await patient.ended).status).to.equal(0);
    expect(await silentEnds, 'a connection without a request is closed long before').to.equal('open');
  });
});
