import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { longMs } from '../support/long.ts';
import type { Reply, World } from '../support/world.ts';
import { AllowanceModel } from './allowance.model.ts';
import { AllowancePair, allowanceSteps } from './allowance.pair.ts';
import type { Curl } from './curl.ts';
import type { Item, Need } from './order.model.ts';
import {
  type Do,
  index,
  is,
  met,
  OrderPair,
  type OrderStep,
  orderExample,
  orderSteps,
  perKeys,
  plain,
  type Way,
} from './order.pair.ts';
import { PoolModel } from './pool.model.ts';
import { PoolPair, poolSteps } from './pool.pair.ts';
import { type Members, RequiresModel } from './requires.model.ts';
import { trySequences } from './sequences.ts';

/** Units of two pools (0 and 1) and two allowances (2 and 3). */
const needs = fc.uniqueArray(fc.record({ of: fc.nat(3), units: fc.constantFrom<number>(1, 1, 1, 2, 2, 3) }), {
  selector: ({ of }) => of,
  maxLength: 3,
});
const send = fc
  .tuple(orderSteps[0]?.arbitrary as fc.Arbitrary<Do<'send'>>, fc.nat(3))
  // Most of them wait for units alone.
  .map(([one, n]) => (n > 0 ? { ...one, after: [], delaySeconds: 0 } : one));
const step = fc.oneof(
  ...orderSteps.slice(1).map(({ weight, arbitrary }) => ({ weight, arbitrary: arbitrary as fc.Arbitrary<Other> })),
  {
    weight: 18,
    arbitrary: fc.record({ do: is('require'), isMember: fc.boolean(), send, needs }),
  },
  { weight: 5, arbitrary: fc.record({ do: is('recvMembers'), max: fc.constantFrom<number>(1, 3) }) },
  // More of these than the order alone needs: units come and go.
  { weight: 6, arbitrary: fc.record({ do: is('complete'), index }) },
  { weight: 4, arbitrary: fc.record({ do: is('wait'), seconds: fc.constantFrom<number>(1, 4, 9) }) },
  {
    weight: 10,
    arbitrary: fc.record({
      ...{ do: is('recv'), run: fc.constantFrom<number | '*'>(0, '*'), max: fc.constantFrom<number>(1, 1, 2, 3) },
      leaseSeconds: fc.constantFrom<number>(5, 9),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: is('renew'), index, leaseSeconds: fc.constantFrom<number>(5, 31) }) },
  { weight: 1, arbitrary: fc.record({ do: is('accept'), index }) },
  { weight: 1, arbitrary: fc.record({ do: is('cancelHolders') }) },
  { weight: 5, arbitrary: fc.record({ do: is('pool'), call: fc.oneof(...poolSteps) }) },
  { weight: 4, arbitrary: fc.record({ do: is('allowance'), of: fc.nat(1), call: fc.oneof(...allowanceSteps) }) },
);
type Other = Exclude<OrderStep, Do<'send'>>;
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const begins = fc.record({ perKey: perKeys, retryDelaySeconds: fc.constantFrom(0, 0, 2) });
const outcomes = [
  ...['READY', 'DELAYED', 'BLOCKED', 'CLAIMED', 'ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED'],
  ...['by KEY', 'by MESSAGE', 'by POOL', 'by ALLOWANCE', 'received', 'nothing', '400 UNITS_EXCEED_LIMIT'],
  ...['409 GROUP_DECIDED', 'decided', 'received after it was short', 'not looked at'],
];

const require = (needs: { of: number; units: number }[], fields: Partial<Do<'send'>> = {}, isMember = false): Step => ({
  ...{ do: 'require', isMember, send: { ...plain, ...fields }, needs },
});
const receive = (run: number | '*', max: number): Step => ({ do: 'recv', run, max, leaseSeconds: 60 });
const complete: Step = { do: 'complete', index: 0 };
const [pool, allowance] = [[{ of: 0, units: 3 }], [{ of: 2, units: 3 }]];
/** What units bring about: with `orderExample` every outcome. */
const example: Step[] = [
  ...[require(pool), require(pool), require(allowance), require(allowance), require([{ of: 1, units: 3 }])],
  ...[receive(0, 3), { do: 'look' as const }, complete, { do: 'wait' as const, seconds: 9 }, receive(0, 3)],
  ...[require([]), require(pool, { run: 1 }), receive('*', 1)],
  ...[complete, complete, complete, complete, require([], {}, true), require([], {}, true)],
  ...[{ do: 'recvMembers' as const, max: 3 }, complete, { do: 'accept' as const, index: 0 }],
  { do: 'nack', index: 0, retry: true, countsAttempt: true, delaySeconds: undefined },
  ...Array.from({ length: 8 }, (_, index): Step => ({ do: 'requeue', index, delaySeconds: 0 })),
];
const acquire = (units: number): Step => ({
  do: 'pool',
  call: { do: 'acquire', pool: 0, units, who: undefined, ttl: 0, lease: 30 },
});
/** A large one that was let out is parked again: what is left is for the small one. */
const passedOn: Step[] = [
  ...[acquire(3), require(pool), require([{ of: 0, units: 1 }]), receive(0, 3)],
  ...[{ do: 'pool' as const, call: { do: 'release' as const, index: 0, isToken: true } }, acquire(1)],
  ...[receive(0, 1), { do: 'look' as const }, receive(0, 1)],
];
const wait = (seconds: number): Step => ({ do: 'wait', seconds });
/** A lease that ends before a window does, swept after both: units are those of each moment. */
const late: Step[] = [
  ...[require([{ of: 1, units: 1 }], { maxAttempts: 1 }, true), require([{ of: 3, units: 3 }]), wait(7)],
  ...[
    require([
      { of: 1, units: 2 },
      { of: 3, units: 3 },
    ], {}, true),
    wait(4),
    require([{ of: 3, units: 3 }], {}, true),
  ],
  ...[{ do: 'recv' as const, run: '*' as const, max: 3, leaseSeconds: 5 }, wait(9)],
];
const inOrder = orderExample.map((one): Step => (one.do === 'send' ? require([], one) : one));

/** What a receive has parked of a run that it looked at, and what was short. */
type Parked = ReadonlyMap<Item, string>;

/** A mailbox, pools and allowances of the service, compared with the model. */
class RequiresPair extends OrderPair<RequiresModel> {
  readonly #pools: PoolPair;
  readonly #allowances: readonly AllowancePair[];
  /** Of the pools, then of the allowances. */
  readonly #ids: readonly string[];
  readonly #wasShort = new Set<Item>();
  #group!: Members;

  constructor(curl: Curl, world: World, model: RequiresModel, mailboxId: string, units: Made, now: number) {
    super(curl, world, model, mailboxId, now);
    this.#pools = units.pools;
    this.#allowances = units.allowances;
    this.#ids = units.ids;
  }

  override async begin(): Promise<void> {
    await super.begin();
    await this.#beginGroup();
  }

  async #beginGroup(): Promise<void> {
    const mailboxId = this.mailbox.split('/')[2];
    const { body } = await this.post('/task-groups', {
      ...{ parentScopeId: randomUUID(), mailboxId, condition: 'FIRST_ACCEPTED' },
    });
    this.#group = { id: body.groupId, scopeId: body.scopeId, isDecided: false };
    this.scopes[2] = body.scopeId;
  }

  async do(one: Step): Promise<void> {
    if (one.do === 'require') await this.#require(one);
    else if (one.do === 'recvMembers') await this.take({ do: 'recv', run: 2, max: one.max, leaseSeconds: 7 });
    else if (one.do === 'renew') await this.#renew(one);
    else if (one.do === 'accept') await this.#accept(one);
    else if (one.do === 'cancelHolders') await this.#cancelHolders();
    else if (one.do === 'pool' || one.do === 'allowance') await this.#use(one);
    else await this.take(one);
    await this.settle();
  }

  /** Workers are done with what the step has left to them. */
  protected override async settle(): Promise<void> {
    await super.settle();
    this.model.serve(this.now);
    this.model.settle();
  }

  override async look(): Promise<void> {
    await super.look();
    await this.#pools.compare();
    for (const pair of this.#allowances) await pair.compare();
  }

  protected override blocker(item: Item): { kind: string; id: string | null } {
    const id = this.model.parked.get(item);
    if (id === undefined) return super.blocker(item);
    return { kind: this.#ids.indexOf(id) < 2 ? 'POOL' : 'ALLOWANCE', id };
  }

  protected override obstacle(item: Item): string | Set<Item> {
    const found = super.obstacle(item);
    const isLater = typeof found !== 'string' || found === '409 PREREQUISITE_FAILED';
    return isLater && this.model.groupOf.get(item)?.isDecided ? '409 GROUP_DECIDED' : found;
  }

  async #require({ isMember, send: one, needs: wanted }: Extract<Step, { do: 'require' }>): Promise<void> {
    await this.move();
    const requires = wanted.map(({ of, units }) => ({ id: this.#ids[of] as string, units }));
    // Pools are looked at first.
    requires.sort((a, b) => Number(this.#ids.indexOf(a.id) > 1) - Number(this.#ids.indexOf(b.id) > 1));
    const [pools, quotas] = [0, 2].map((from) =>
      requires.filter(({ id }) => this.#ids.slice(from, from + 2).includes(id)),
    ) as [Need[], Need[]];
    const body = {
      requires: {
        pools: pools.map(({ id, units }) => ({ poolId: id, units })),
        quotas: quotas.map(({ id, units }) => ({ allowanceId: id, units })),
      },
    };
    const isTooMuch = requires.some(({ id, units }) => units > this.model.limit(id));
    const way = isMember ? this.#member() : this.way(one);
    const refusal = isTooMuch ? '400 UNITS_EXCEED_LIMIT' : undefined;
    const item = await this.send(one, { ...way, body: { ...way.body, ...body }, requires, refusal });
    if (item && isMember) this.model.groupOf.set(item, this.#group);
  }

  #member(): Way {
    const { id, scopeId } = this.#group;
    return { path: `/task-groups/${id}/tasks`, scopeId, body: { taskKey: randomUUID() } };
  }

  async #use(one: Extract<Step, { do: 'pool' | 'allowance' }>): Promise<void> {
    await this.move();
    if (one.do === 'pool') await this.#pools.take(one.call);
    else await this.#allowances[one.of]?.take(one.call);
  }

  async #cancelHolders(): Promise<void> {
    await this.move();
    await this.#pools.cancelRun();
  }

  async #renew({ index: at, leaseSeconds }: Extract<Step, { do: 'renew' }>): Promise<void> {
    await this.move();
    const item = this.pick(this.model.of('CLAIMED'), at);
    if (!item) return;
    this.expect(await this.post(`/messages/${item.id}/renew`, { token: item.token, leaseSeconds }), '200');
    item.at = Math.min(this.now + 1_000 * leaseSeconds, item.deadline ?? Number.POSITIVE_INFINITY);
  }

  async #accept({ index: at }: Extract<Step, { do: 'accept' }>): Promise<void> {
    await this.move();
    const done = this.model.of('ACKED').filter((item) => this.model.groupOf.get(item) === this.#group);
    const item = this.pick(done, at);
    if (!item || !this.isSure(this.model.pending(this.#group))) return;
    const { taskId } = (await this.curl.get(`/messages/${item.id}`)).body;
    this.expect(await this.post(`/task-groups/${this.#group.id}/tasks/${taskId}/accept`), '200');
    this.model.decide(this.#group, this.now);
    met.add('decided');
    await this.#beginGroup();
  }

  /** What a look at a run would park; nothing where it would claim a message. */
  #parked(queue: readonly Item[]): Parked | undefined {
    const parked = new Map<Item, string>();
    for (const item of queue) {
      const need = this.model.short(item);
      if (!need) return undefined;
      parked.set(item, need.id);
    }
    return parked;
  }

  protected override async recv(one: Do<'recv'>): Promise<void> {
    // Behind what is paused, a receive makes nothing ready.
    if (this.model.pausedScopes.size > 0) await this.settle();
    const [messages, queues] = await this.receive(one);
    const looks = queues.map((): Parked[] => []);
    const note = (): void => {
      for (const [at, queue] of queues.entries()) {
        const parked = this.#parked(queue);
        if (parked) looks[at]?.push(parked);
      }
    };
    let last: Item[] | undefined;
    for (const { id, token, holds, consumptions } of messages) {
      note();
      const queue = queues.find((items) => items.some((item) => item.id === id)) ?? [];
      const isOthersTurn = last === queue && queues.some((other) => other !== queue && !this.#parked(other));
      expect(isOthersTurn, 'runs take turns').to.equal(false);
      last = queue;
      for (let next = queue.shift(); next && next.id !== id; next = queue.shift()) this.#park(next);
      const item = this.model.items.find((other) => other.id === id) as Item;
      expect(this.model.short(item), `${id} has all that it requires`).to.equal(undefined);
      this.claim(item, token, one.leaseSeconds);
      this.#take(item, holds, consumptions);
    }
    note();
    for (const [at, queue] of queues.entries())
      await this.#resolve(queue, looks[at] ?? [], messages.length === one.max);
  }

  #park(item: Item, id = this.model.short(item)?.id): void {
    expect(id, `${item.id} is short of something`).not.to.equal(undefined);
    this.model.park(item, id as string);
    this.#wasShort.add(item);
  }

  #take(item: Item, holds: Reply['body'][], consumptions: Reply['body'][]): void {
    const taken = [
      ...holds.map(({ poolId, units }) => ({ id: poolId, units })),
      ...consumptions.map(({ allowanceId, units }) => ({ id: allowanceId, units })),
    ];
    expect(taken).to.deep.equal(item.of.requires ?? []);
    this.model.take(
      item,
      holds.map(({ fence }) => fence),
    );
    for (const { id, allowanceId, units } of consumptions)
      this.#allowances[this.#ids.indexOf(allowanceId) - 2]?.add(id, units);
    if (this.#wasShort.has(item)) met.add('received after it was short');
  }

  /** Of a run that was not served, a receive has looked at all messages, at one of these moments, or, if it is full, at none. */
  async #resolve(queue: readonly Item[], looks: readonly Parked[], isFull: boolean): Promise<void> {
    expect(queue.length === 0 || isFull || looks.length > 0, 'what fits is received').to.equal(true);
    if (queue.length === 0 || looks.length === 0) return;
    const { body } = await this.curl.get(`${this.mailbox}/messages?limit=200`);
    const shown = new Map<string, Reply['body']>(body.messages.map((one: { id: string }) => [one.id, one]));
    const blockedOn = (item: Item): string | undefined => shown.get(item.id).blockedBy[0]?.id;
    const isUntouched = queue.every((item) => blockedOn(item) === undefined);
    if (isFull && isUntouched) {
      met.add('not looked at');
      return;
    }
    const found = looks.find((parked) => queue.every((item) => blockedOn(item) === parked.get(item)));
    expect(found, 'parked by what was short').not.to.equal(undefined);
    for (const [item, id] of found ?? []) this.#park(item, id);
  }
}

/** The pools and allowances of a sequence. */
interface Made {
  readonly pools: PoolPair;
  readonly allowances: readonly AllowancePair[];
  readonly ids: readonly string[];
}

describe('model of what messages require', () => {
  it('gives each receive the first message that has all its units, and parks the others, in any sequence', async function () {
    this.timeout(longMs);
    await trySequences<{ perKey: number | null; retryDelaySeconds: number }, Step>({
      ...{ first: begins, step, maxLength: 70, outcomes, met },
      examples: [example, passedOn, late, inOrder].map((one) => [{ perKey: 1, retryDelaySeconds: 0 }, one]),
      run: async (curl, world, now, { perKey, retryDelaySeconds }, sequence) => {
        const make = async (path: string, fields: object): Promise<string> =>
          (await curl.post(path, { name: randomUUID(), ...fields })).body.id;
        const poolIds = [await make('/pools', { units: 3 }), await make('/pools', { units: 2 })];
        const window = { unitsLimit: 5, windowSeconds: 10 };
        const allowanceIds = [await make('/allowances', window), await make('/allowances', window)];
        const pool = new PoolModel(3, 2);
        const allowances = new Map(allowanceIds.map((id) => [id, new AllowanceModel()]));
        for (const clock of [pool, ...allowances.values()]) clock.now = now;
        const model = new RequiresModel(perKey, retryDelaySeconds, { pool, poolIds, allowances });
        const made = {
          pools: new PoolPair(curl, pool, poolIds),
          allowances: [...allowances].map(([id, one]) => new AllowancePair(curl, one, id)),
          ids: [...poolIds, ...allowanceIds],
        };
        const mailboxId = await make('/mailboxes', { perKey, retryDelaySeconds });
        const pair = new RequiresPair(curl, world, model, mailboxId, made, now);
        await pair.begin();
        for (const one of sequence) await pair.do(one);
        await pair.look();
      },
    });
  });
});
