import { PHASE_NAMES, PHASES, type Phase } from '../phases.ts';
import { MusterServer } from '../servers/muster.ts';
import { Contender, PAYLOAD, type Settings, type Work } from './contender.ts';

export class Muster extends Contender {
  readonly name = 'Muster';
  readonly phases = PHASE_NAMES;
  #server: MusterServer | undefined;

  protected async startServer(redisSocket: string): Promise<void> {
    this.#server = await MusterServer.start(redisSocket, this.settings.spaces, PAYLOAD);
  }

  protected async stopServer(): Promise<void> {
    await this.#server?.stop();
  }

  protected pid(): number {
    return this.#server?.pid ?? 0;
  }

  protected work(phase: Phase, seconds: number): Promise<Work> {
    return this.drive(phase, { seconds });
  }

  async drive(phase: Phase, length: { seconds: number } | { amount: number }): Promise<Work> {
    if (!this.#server) throw new Error('Muster is not started');
    const { url, headers } = this.#server;
    const { driver, connections } = this.settings;
    const http = await driver.run({ url, plans: this.#server.plans(phase), headers, connections, ...length });
    const successes = Object.values(http.steps).reduce((sum, { count }) => sum + count, 0);
    const count = PHASES[phase].counts === 'requests' ? successes : http.laps;
    return { count, seconds: http.seconds, http };
  }
}

export const musterContenders = { muster: (settings: Settings) => new Muster(settings) };
