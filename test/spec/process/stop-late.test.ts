import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { startEmbedded } from '../../../src/embedded/embedded.ts';
import { Pace } from '../../support/pace.ts';
import { type MusterProcess, Processes, until } from '../../support/processes.ts';

describe('Shutdown of a process that something holds up', () => {
  const processes = new Processes();
  afterEach(() => processes.clear());
  const startOnOwnFolder = async (settings: Record<string, string> = {}): Promise<MusterProcess> =>
    processes.start({ DATA_DIR: await processes.folder(), ...settings }).ready();

  it('completes within 10 s despite a request that never ends and a store that is away; a second SIGTERM or SIGINT exits 1 at once', async () => {
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
    const pace = await Pace.begin();
    const begun = performance.now();
    patient.signal('SIGTERM');
    hurried.signal('SIGTERM');
    const silentEnds = once(silent, 'close').then(() => sleep(200).then(() => unended.readyState));
    const again = setInterval(() => hurried.signal('SIGINT'), 100);
    expect((await hurried.ended).status).to.equal(1);
    clearInterval(again);
    const hurriedMs = performance.now() - begun;
    expect((await patient.ended).status).to.equal(0);
    await pace.expect(performance.now() - begun, 9000);
    await pace.expect(hurriedMs, 3000);
    expect(await silentEnds, 'a connection without a request is closed long before').to.equal('open');
  });
});
