import { setTimeout as sleep } from 'node:timers/promises';
import { collect, send } from './desk.ts';
import { claimSeconds, crew, liar, successor, victim } from './plan.ts';
import type { Fleet, Server } from './processes.ts';
import type { Screen } from './screen.ts';
import { nameOf, type Stage } from './stage.ts';

/** Duration of the counting, so that people can follow. */
const countSeconds = 5;

/** The first act: a queue, and an agent that dies while it holds a message. */
export class Count {
  readonly #stage: Stage;
  readonly #server: Server;
  readonly #fleet: Fleet;
  readonly #screen: Screen;

  constructor(stage: Stage, server: Server, fleet: Fleet, screen: Screen) {
    this.#stage = stage;
    this.#server = server;
    this.#fleet = fleet;
    this.#screen = screen;
  }

  async run(): Promise<void> {
    const { units, ids, folder, counted } = this.#stage;
    const screen = this.#screen;
    await send(this.#stage, ids.countId, units, (unit) => ({ unit }));
    screen.log('queue', `${units.length} parts of ${nameOf(folder)} are queued, one message each`);
    for (const name of crew) this.#start(name);
    screen.log('agents', `${crew.join(', ')} start: ${crew.length} processes that don't know each other`);
    await collect(this.#stage, () => counted.size > units.length / 5);
    await Promise.all([this.#crash(), collect(this.#stage, () => counted.size === units.length)]);
    const again = counted.get(this.#stage.crashed?.unit ?? '');
    screen.log('queue', `${again?.by} has counted ${again?.unit} at attempt 2: nothing was lost`);
    screen.log('count', `${this.#stage.files} files in ${units.length} parts`);
  }

  #start(name: string): void {
    const { folder, ids, units } = this.#stage;
    const { url, key, spaceId } = this.#server;
    const paceMs = Math.min(1000, Math.round((countSeconds * 1000 * crew.length) / units.length));
    this.#fleet.start({ url, key, spaceId, folder, name, paceMs, lies: name === liar, ...ids });
  }

  /** Stops the agent first, so that it surely still holds the message when it dies. */
  async #crash(): Promise<void> {
    const { muster, ids, subjects } = this.#stage;
    for (;;) {
      this.#fleet.signal(victim, 'SIGSTOP');
      await sleep(100);
      const { heldClaims } = await muster.waits.get();
      const claim = heldClaims.find(({ holder, mailboxId }) => holder === victim && mailboxId === ids.countId);
      if (claim) return this.#kill(claim.messageId, subjects.get(claim.messageId) ?? '');
      this.#fleet.signal(victim, 'SIGCONT');
      await sleep(20);
    }
  }

  async #kill(messageId: string, unit: string): Promise<void> {
    this.#fleet.signal(victim, 'SIGKILL');
    this.#stage.crashed = { messageId, unit };
    const pid = this.#fleet.pid(victim);
    this.#screen.log('crash', `kill -9 ${pid}: ${victim} dies while it holds ${unit}; nobody tells Muster`);
    this.#start(successor);
    this.#screen.log(
      'crash',
      `${successor} starts in its place; the claim lasts until its lease of ${claimSeconds} s expires`,
    );
    const { muster } = this.#stage;
    while ((await muster.waits.get()).heldClaims.some(({ holder }) => holder === victim)) await sleep(50);
    this.#screen.log('lease', `${victim}'s claim has expired: ${unit} is ready again`);
  }
}
