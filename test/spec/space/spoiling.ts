import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { many } from '../../support/long.ts';
import { rejectionOf } from '../../support/own-store.ts';
import { Traffic } from '../../support/traffic.ts';
import { World } from '../../support/world.ts';

/** A space with records of every kind, waiting and finished; its clock stands still. */
async function busy(): Promise<World> {
  const world = await World.create();
  await world.at(Date.now());
  const traffic = await Traffic.on(world);
  const deadline = new Date(Date.now() + 3_600_000).toISOString();
  await Promise.all([traffic.messages(deadline), traffic.group(), traffic.barrier(), traffic.units()]);
  await Promise.all([traffic.later(), traffic.stopped(), traffic.reservation(deadline), traffic.holds()]);
  await traffic.questions();
  const scopeId = randomUUID();
  for (const fields of [{}, { workKey: 'w' }, { delaySeconds: 60 }]) await traffic.send(scopeId, fields);
  await traffic.claim(scopeId);
  await traffic.nack(await traffic.claim(scopeId), false);
  await world.post(`/mailboxes/${traffic.work}/recv`, { scopeId: '*', holder: 'h', holderSession: 's' });
  await traffic.send(scopeId);
  const { id: budgetId } = await world.mustPost('/budgets', { name: 'c', currency: 'EUR', scale: 2, limitMinor: '99' });
  const reserve = { scopeId, holder: 'h', amountMinor: '7', workKey: 'w' };
  await world.mustPost(`/budgets/${budgetId}/reserve`, reserve);
  const { id: reservationId } = await world.mustPost(`/budgets/${budgetId}/reserve`, { ...reserve, workKey: 'x' });
  const cost = { reservationId, amountMinor: '100', workKey: 'x', overrun: true };
  await world.mustPost(`/budgets/${budgetId}/settle`, cost);
  const group = { parentScopeId: scopeId, mailboxId: traffic.work, condition: 'ALL_TERMINAL' };
  const { id: groupId } = await world.mustPost('/task-groups', group);
  await world.mustPost(`/task-groups/${groupId}/tasks`, { taskKey: 'a' });
  for (const key of ['plan', 'state']) await world.call('PUT', `/scopes/${scopeId}/notes/${key}`, { value: key });
  const schedule = { name: 's', mailboxId: traffic.work, scopeId, payload: 1, everySeconds: 3600 };
  await world.mustPost('/schedules', schedule);
  const { id: stopped } = await world.mustPost('/scopes', { parentScopeId: scopeId, name: 'n' });
  await traffic.note(stopped);
  await world.mustPost(`/scopes/${stopped}/cancel`);
  // As if there were more to end than its first step may.
  await world.service.store.hset(`${world.prefix}:scope:${stopped}`, 'cancelWalk', `${stopped}  `);
  const timer = `scope:cancel:${world.spaceNumber}:${stopped}`;
  await world.service.store.zadd(`muster:{${world.org}}:backgroundTimers`, Date.now(), timer);
  return world;
}

/** Indexes of no records: the journal, replays, usage of days, names, arrivals. */
const noIndex =
  /:(events|idempotency:\d+|usage.*|arrivalKeys|allowances|allowanceNames|budgets|budgetNames|taskKeys|queue|workKeys:(SETTLE|VOID)|outbox.*|schedules|scheduleNames|(allowance|reservation):[^:]+:workKeys)$/;

/**
 * A busy space of which a test spoils one stored thing after the other, each of which the recount must notice. There are
 * two, which share the things between them, as that takes less time. Only the long tests spoil all, others each fourth.
 */
export class Spoiling {
  readonly world: World;
  /** The prefix of the space's keys. */
  readonly prefix: string;
  readonly #missed: string[] = [];
  readonly #checked = new Set<string>();
  #turn: number;

  private constructor(world: World, turn: number) {
    this.world = world;
    this.prefix = `${world.prefix}:`;
    this.#turn = turn;
  }

  /** Has both do `work`. Fails unless all was noticed, at least so many kinds of things, and everything is right again. */
  static async expectNoticed(least: number, work: (spoiling: Spoiling) => Promise<void>): Promise<void> {
    const begin = async (turn: number): Promise<Spoiling> => {
      const world = await busy();
      await expectAgreement(world);
      const spoiling = new Spoiling(world, turn);
      await work(spoiling);
      await expectAgreement(world);
      return spoiling;
    };
    const both = await Promise.all(Array.from({ length: many(1, 2) }, (_, turn) => begin(turn)));
    expect(both.flatMap((one) => one.#missed)).to.deep.equal([]);
    expect(both.reduce((sum, one) => sum + one.#checked.size, 0)).to.be.at.least(Math.floor(least / many(5, 1)));
  }

  /** Whether the next thing is this one's to spoil. */
  isMine(): boolean {
    return this.#turn++ % many(4, 2) === 0;
  }

  static kindOf(name: string): string {
    return name.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '*');
  }

  /** One key of each kind that is an index, with its type. */
  async indexes(): Promise<[name: string, type: string][]> {
    const { store } = this.world.service;
    const kinds = new Map<string, string>();
    for (const name of (await store.keys(`${this.prefix}*`)).sort().reverse())
      if (!noIndex.test(name)) kinds.set(Spoiling.kindOf(name), name);
    return Promise.all(
      [...kinds.values()].map(async (name): Promise<[string, string]> => [name, await store.type(name)]),
    );
  }

  /** named: what the failure must name. */
  async check(name: string, named = '', how: Parameters<typeof expectAgreement>[1] = {}): Promise<void> {
    const failure = await rejectionOf(expectAgreement(this.world, how)).catch(() => '');
    this.#checked.add(Spoiling.kindOf(name));
    if (failure === '' || !failure.includes(named)) this.#missed.push(`${name}: ${failure}`);
  }

  isChecked(name: string): boolean {
    return this.#checked.has(Spoiling.kindOf(name));
  }
}
