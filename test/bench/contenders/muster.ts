import type { Plan } from '../driver.ts';
import { PHASE_NAMES, PHASES, type Phase } from '../phases.ts';
import { MusterServer } from '../servers/muster.ts';
import { BATCH_PHASES, type BatchPhase } from '../servers/muster-space.ts';
import { Contender, PAYLOAD, type Settings, type Work } from './contender.ts';

export class Muster extends Contender {
  readonly name: string = 'Muster';
  readonly phases: readonly Phase[] = PHASE_NAMES;
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
    const { driver } = this.settings;
    const plans = this.plansOf(this.#server, phase);
    const http = await driver.run({ url, plans, headers, connections: this.connections, ...length });
    const successes = Object.values(http.steps).reduce((sum, { count }) => sum + count, 0);
    const count = PHASES[phase].counts === 'requests' ? successes : http.laps;
    return { count, seconds: http.seconds, http };
  }

  protected get connections(): number {
    return this.settings.connections;
  }

  protected plansOf(server: MusterServer, phase: Phase): readonly Plan[] {
    return server.plans(phase);
  }
}

/** Connections that send batches. */
export const BATCH_CONNECTIONS = 10;

/** Messages sent, received and completed fifty at a time. */
class MusterBatch extends Muster {
  override readonly name = 'Muster, batches of 50';
  override readonly phases = BATCH_PHASES;

  protected override get connections(): number {
    return Math.min(BATCH_CONNECTIONS, this.settings.connections);
  }

  protected override plansOf(server: MusterServer, phase: Phase): readonly Plan[] {
    return server.batchPlans(phase as BatchPhase);
  }
}

export const musterContenders = {
  muster: (settings: Settings) => new Muster(settings),
  'muster-batch': (settings: Settings) => new MusterBatch(settings),
};
