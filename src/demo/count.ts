import { setTimeout as sleep } from 'node:timers/promises';
import { collect, send } from './desk.ts';
import { claimSeconds, crew, liar, successor, victim } from './plan.ts';
import type { Fleet, Server } from './processes.ts';
import type { Screen } from './screen.ts';
import { nameOf, type Stage } from './stage.ts';

/** Of the counting, for people to follow. */
const countSeconds = 5;

/** The first act: a queue, and an agent that dies with a message in its hands. */
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
    screen.tell('queue', `${units.length} parts of ${nameOf(folder)} are messages now, one each`);
    for (const name of crew) this.#start(name);
    screen.tell('agents', `${crew.join(', ')} start: ${crew.length} processes that do not know each other`);
    await collect(this.#stage, () => counted.size > units.length / 5);
    await Promise.all([this.#crash(), collect(this.#stage, () => counted.size === units.length)]);
    const again = counted.get(this.#stage.crashed?.unit ?? '');
    screen.tell('queue', `${again?.by} has counted ${again?.unit}, as attempt 2: nothing was lost`);
    screen.tell('count', `${this.#stage.files} files in ${units.length} parts`);
  }

  #start(name: string): void {
    const { folder, ids, units } = this.#stage;
    const { url, key, spaceId } = this.#server;
    const paceMs = Math.min(1000, Math.round((countSeconds * 1000 * crew.length) / units.length));
    this.#fleet.start({ url, key, spaceId, folder, name, paceMs, lies: name === liar, ...ids });
  }

  /** Stops it first, to be sure that it still holds the message when it dies. */
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
    this.#screen.tell('crash', `kill -9 ${pid}: ${victim} dies while it holds ${unit}; nobody tells Muster`);
    this.#start(successor);
    this.#screen.tell(
      'crash',
      `${successor} starts in its place; the claim stays until its ${claimSeconds} s are over`,
    );
    const { muster } = this.#stage;
    while ((await muster.waits.get()).heldClaims.some(({ holder }) => holder === victim)) await sleep(50);
    this.#screen.tell('lease', `${victim}'s claim has ended by itself: ${unit} is ready again`);
  }
}
