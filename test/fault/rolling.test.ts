import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { MusterService } from '../../src/service.ts';
import { type Answer, call, type MusterProcess, until } from '../support/processes.ts';
import { World } from '../support/world.ts';
import { Lab } from './lab.ts';
import { buildOther } from './other-build.ts';
import { earlierScenes, scenes } from './scenes/all.ts';
import { soundUnder } from './under-load.ts';

/** The two builds share the store for so long after each change. */
const togetherMs = 1_000;
/** Ends once the build that knows it has gone. */
const lockSeconds = 25;

/** What only the other build can make, and what it makes otherwise, in an organization beside the load. */
class Foreign {
  readonly #lab: Lab;
  readonly #world: World;
  #messageId = '';
  #mailboxId = '';
  #lockEndsAt = 0;

  private constructor(lab: Lab, world: World) {
    this.#lab = lab;
    this.#world = world;
  }

  static async create(lab: Lab, service: MusterService): Promise<Foreign> {
    const foreign = new Foreign(lab, await World.create({ on: service }));
    foreign.#mailboxId = (await foreign.#ask(201, '/mailboxes', { name: 'work' })).id;
    return foreign;
  }

  /** While all processes are of the other build: its script is called, and its field is written. */
  async make(): Promise<void> {
    const lock = { scopeId: this.#world.spaceId, name: 'crane', holder: 'h', leaseSeconds: lockSeconds };
    this.#lockEndsAt = Date.parse((await this.#ask(201, '/locks', lock)).leaseExpiresAt);
    const refused = await this.#ask(409, '/locks', lock);
    expect(refused.error.code).to.equal('LOCK_HELD');
    const sent = { scopeId: this.#world.spaceId, payload: 1 };
    this.#messageId = (await this.#ask(201, `/mailboxes/${this.#mailboxId}/messages`, sent)).id;
    expect(await this.#madeBy()).to.equal('another build');
  }

  /** Once all are of this build again: it works on, and a timer that it does not know stops none behind it. */
  async goOn(): Promise<void> {
    await this.#ask(404, '/locks', {});
    const leaseSeconds = 5 + Math.max(0, Math.ceil((this.#lockEndsAt - Date.now()) / 1000));
    const agent = { scopeId: '*', holder: 'h', holderSession: 's' };
    const receive = () => this.#ask(200, `/mailboxes/${this.#mailboxId}/recv`, { ...agent, leaseSeconds });
    expect((await receive()).id).to.equal(this.#messageId);
    await sleep(leaseSeconds * 1000);
    const path = `/messages/${this.#messageId}`;
    await until(async () => (await this.#ask(200, path)).state === 'READY');
    const { token, attempt } = await receive();
    expect(attempt).to.equal(2);
    await this.#ask(200, `${path}/complete`, { token });
    expect(await this.#ask(200, path)).to.include({ state: 'ACKED' });
    expect(await this.#madeBy()).to.equal('another build');
    const { events } = await this.#ask(200, '/events?limit=100');
    expect(events.map(({ type }: { type: string }) => type)).to.include.members(['lock.acquired', 'message.acked']);
  }

  /** At any of the processes. */
  async #ask(status: number, path: string, body?: object): Promise<Answer['body']> {
    const urls = this.#lab.urls();
    const answer = await call(urls[Date.now() % urls.length] ?? '', this.#world, path, body);
    expect([path, answer.status, answer.body]).to.deep.equal([path, status, answer.body]);
    return answer.body;
  }

  #madeBy(): Promise<string | null> {
    const { service, prefix } = this.#world;
    return service.store.hget(`${prefix}:message:${this.#messageId}`, 'madeBy');
  }
}

/**
 * OTHER_BUILD: the folder of a checkout that is built, of 761d759 or later, instead of the one made here. The load is then what
 * all of them have.
 */
const given = process.env['OTHER_BUILD'];

describe('A rolling change between two builds', function () {
  this.timeout(180_000);
  let lab: Lab;
  let other: string;
  const workers: MusterProcess[] = [];
  before(async () => {
    lab = await Lab.opened();
    if (lab.worker) workers.push(lab.worker, await lab.startWorker());
    other = given ?? (await lab.folder());
    if (given === undefined) await buildOther(other);
  });
  after(() => lab.stop());

  async function changeTo(main: string): Promise<void> {
    for (const at of lab.apis.keys()) {
      await lab.apis[at]?.end('SIGTERM');
      lab.apis[at] = await lab.api(main);
      await sleep(togetherMs);
    }
    for (const at of workers.keys()) {
      await workers[at]?.end('SIGTERM');
      workers[at] = await lab.startWorker(main);
      await sleep(togetherMs);
    }
  }

  it('a change back, process by process, under load loses nothing, and no repeated call fails', async () => {
    const service = await lab.service();
    const foreign = given === undefined ? await Foreign.create(lab, service) : undefined;
    const change = async () => {
      await changeTo(join(other, 'dist/main.js'));
      await foreign?.make();
      await changeTo('dist/main.js');
      await foreign?.goOn();
      return { isEarlier: given !== undefined };
    };
    try {
      await soundUnder(lab, 'a rolling change', change, given === undefined ? scenes : earlierScenes);
    } finally {
      await service.stop();
    }
  });
});
