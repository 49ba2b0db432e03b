import { expect } from 'chai';
import fc from 'fast-check';
import { longMs } from '../support/long.ts';
import type { Reply, World } from '../support/world.ts';
import { type Held, type Node, TreeModel } from './budget-tree.model.ts';
import type { Curl } from './curl.ts';
import { trySequences } from './sequences.ts';

const maxAmount = 10n ** 18n - 1n;
const scopeId = '0190a1b2-0000-7000-8000-000000000000';
const index = fc.nat(9);
const limit = fc.oneof(fc.bigInt({ min: 0n, max: 100n }), fc.bigInt({ min: 10n ** 17n, max: maxAmount }));
const percents = fc
  .uniqueArray(fc.constantFrom<number[]>(1, 33, 50, 80, 100), { maxLength: 4 })
  .map((list) => list.sort((a, b) => a - b));
const windowSeconds = fc.option(fc.constantFrom<number[]>(60, 61, 3600));
const quarters = fc.bigInt({ min: 0n, max: 4n });
const more = fc.bigInt({ min: -1n, max: 1n });
/** Seconds until the rest is settled. */
const settleIn = fc.option(fc.integer({ min: 1, max: 150 }));
const budget = fc.record({ parent: fc.option(index, { freq: 4 }), limit, windowSeconds, percents });
const step = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constant('create' as const), budget }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('reserve' as const), index, of: index, quarters, more, settleIn }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      index,
      quarters,
      more,
      times: fc.bigInt({ min: 1n, max: 3n }),
      label: fc.option(fc.constantFrom<string[]>('a', 'b', 'other')),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('void' as const), index }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      index,
      quarters: fc.option(quarters, { nil: undefined }),
      more,
      percents: fc.option(percents, { nil: undefined }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 90 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('again' as const), index }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Budget = Extract<Step, { do: 'create' }>['budget'];

const outcomes = [
  '201',
  '200',
  'INSUFFICIENT_BUDGET',
  'PARENT_MISMATCH',
  'LIMIT_BELOW_USE',
  'RESERVATION_CLOSED',
].concat([
  'short above',
  'overdrawn above',
  'rolled',
  'announced',
  'announced again',
  'paid at a roll',
  'settled when overdue',
]);
const met = new Set<string>();
const plain = { parent: null, limit: 100n, windowSeconds: null, percents: [50, 100] };
const below = (parent: number, limit: bigint, windowSeconds: number | null): Step => ({
  ...{ do: 'create', budget: { parent, limit, windowSeconds, percents: [50] } },
});
const reserve = (index: number, quarters: bigint, more = 0n, settleIn: number | null = null): Step => ({
  ...{ do: 'reserve', index, of: 0, quarters, more, settleIn },
});
/** Produces every other outcome, so that none depends on chance. */
const everything: Step[] = [
  ...[below(0, 90n, 60), below(1, 80n, null), reserve(2, 4n), reserve(1, 1n), reserve(0, 4n, 1n)],
  // Of the root there are less left.
  ...[below(0, 50n, null), reserve(3, 4n)],
  ...[{ do: 'settle' as const, index: 0, quarters: 4n, more: 0n, times: 3n, label: 'a' }],
  ...[reserve(2, 0n, 1n), { do: 'change' as const, index: 1, quarters: 0n, more: -1n, percents: undefined }],
  ...[
    { do: 'pass' as const, seconds: 60 },
    { do: 'change' as const, index: 1, quarters: 4n, more: 1n, percents: [50] },
  ],
  ...[{ do: 'void' as const, index: 0 }, ...[2, 4, 5, 6, 7, 8].map((parent) => below(parent, 50n, 60))],
  // The root is overdrawn until its limit is far above, which arms its alerts again.
  ...[reserve(3, 4n), { do: 'change' as const, index: 0, quarters: 4n, more: 1n, percents: undefined }],
  ...[reserve(3, 4n), reserve(0, 4n)],
];

/** Its alert is announced again in the next window. */
const windowed: [Budget, Step[]] = [
  { ...plain, windowSeconds: 60 },
  [
    reserve(0, 4n),
    { do: 'settle', index: 0, quarters: 4n, more: 0n, times: 1n, label: null },
    { do: 'pass', seconds: 60 },
    reserve(0, 4n),
  ],
];

/** Its windows pay for an overrun of 200, the next one for what a dead agent had reserved. */
const paying: [Budget, Step[]] = [
  { ...plain, windowSeconds: 60, percents: [50] },
  [
    reserve(0, 4n),
    below(0, 300n, 60),
    { do: 'settle', index: 0, quarters: 4n, more: 0n, times: 3n, label: null },
    { do: 'pass', seconds: 60 },
    reserve(0, 0n),
    { do: 'pass', seconds: 60 },
    { do: 'pass', seconds: 60 },
    reserve(1, 2n, 0n, 30),
    { do: 'pass', seconds: 20 },
    { do: 'pass', seconds: 90 },
    { do: 'settle', index: 1, quarters: 4n, more: 0n, times: 1n, label: null },
    reserve(1, 2n, 0n, 30),
    { do: 'pass', seconds: 30 },
  ],
];

const outcomeOf = (reply: Reply): string => reply.body?.error?.code ?? `${reply.status}`;

/** The trees of a space, compared with the model. */
class Pair {
  readonly #curl: Curl;
  readonly #world: World;
  readonly #model = new TreeModel();
  readonly #ids: string[] = [];
  readonly #heldIds: string[] = [];
  #workKeys = 0;

  constructor(curl: Curl, world: World, now: number) {
    this.#curl = curl;
    this.#world = world;
    this.#model.now = now;
  }

  async take(step: Step): Promise<void> {
    const model = this.#model;
    if (step.do === 'pass') {
      model.pass(model.now + step.seconds * 1000);
      await this.#curl.at(model.now);
    }
    if (step.do === 'again') return this.#curl.again(step.index);
    if (step.do === 'create') await this.create(step.budget);
    const node = 'index' in step ? model.nodes[step.index % model.nodes.length] : undefined;
    if (step.do === 'reserve' && node) await this.#reserve(node, step);
    if (step.do === 'change' && node) await this.#change(node, step);
    if (step.do === 'settle' || step.do === 'void') {
      const at = step.index % Math.max(1, model.held.length);
      const held = model.held[at];
      if (held) await this.#close(held, this.#heldIds[at] ?? '', step);
    }
    await this.compare();
  }

  async create({ parent, limit, windowSeconds, percents }: Budget): Promise<void> {
    const { nodes } = this.#model;
    const above = parent === null ? null : (nodes[parent % nodes.length] ?? null);
    const reply = await this.#curl.post('/budgets', {
      ...{ name: `b${this.#workKeys++}`, currency: 'EUR', scale: 2, limitMinor: `${limit}`, windowSeconds },
      ...{ parentBudgetId: above && this.#idOf(above), alertPercents: percents },
    });
    const isTooDeep = above !== null && above.line.length === 8;
    met.add(outcomeOf(reply));
    expect(outcomeOf(reply)).to.equal(isTooDeep ? 'PARENT_MISMATCH' : '201');
    if (isTooDeep) return;
    this.#model.add(above, limit, windowSeconds && windowSeconds * 1000, percents);
    this.#ids.push(reply.body.id);
  }

  #idOf(node: Node): string {
    return this.#ids[this.#model.nodes.indexOf(node)] ?? '';
  }

  /** Of what is available in one of its levels, a share, a little more or less. */
  async #reserve(node: Node, { of, quarters, more, settleIn }: Extract<Step, { do: 'reserve' }>): Promise<void> {
    const model = this.#model;
    const level = node.line[of % node.line.length] ?? node;
    const wanted = (model.balances(level).available * quarters) / 4n + more;
    const amount = wanted < 1n ? 1n : wanted > maxAmount ? maxAmount : wanted;
    const settleAt = settleIn === null ? null : model.now + settleIn * 1000;
    const late = settleAt !== null && { settleBy: new Date(settleAt).toISOString(), onOverdue: 'SETTLE' };
    const body = { scopeId, holder: 'h', amountMinor: `${amount}`, ...late };
    const reply = await this.#curl.post(`/budgets/${this.#idOf(node)}/reserve`, body);
    const short = model.shortOf(node, amount);
    met.add(outcomeOf(reply));
    expect(outcomeOf(reply)).to.equal(short ? 'INSUFFICIENT_BUDGET' : '201');
    if (short) {
      expect(reply.body.error.message).to.contain(this.#idOf(short));
      if (short !== node) met.add(short.overdrawn > 0n ? 'overdrawn above' : 'short above');
      return;
    }
    model.reserve(node, amount, settleAt);
    this.#heldIds.push(reply.body.id);
  }

  async #close(held: Held, reservationId: string, step: Extract<Step, { do: 'settle' | 'void' }>): Promise<void> {
    const path = `/budgets/${this.#idOf(held.node)}/${step.do}`;
    const workKey = `w${this.#workKeys++}`;
    const isClosed = held.left === 0n;
    const wanted = step.do === 'settle' ? ((held.left * step.quarters) / 4n) * step.times + step.more : 0n;
    const amount = wanted < 0n ? 0n : wanted > maxAmount ? maxAmount : wanted;
    const cost = step.do === 'settle' ? { amountMinor: `${amount}`, overrun: true, label: step.label } : {};
    const reply = await this.#curl.post(path, { reservationId, workKey, ...cost });
    met.add(outcomeOf(reply));
    expect(outcomeOf(reply)).to.equal(isClosed ? 'RESERVATION_CLOSED' : '200');
    if (isClosed) return;
    if (step.do === 'void') held.left = 0n;
    else {
      const [overdrawn] = this.#model.settle(held, amount, step.label);
      expect(reply.body.entry.overdrawnMinor).to.equal(`${overdrawn}`);
    }
  }

  async #change(node: Node, { quarters, more, percents }: Extract<Step, { do: 'change' }>): Promise<void> {
    if (quarters === undefined && percents === undefined) return;
    const { reserved, settled, available } = this.#model.balances(node);
    const wanted = reserved + settled + ((available + node.overdrawn) * (quarters ?? 0n)) / 2n + more;
    const limit = quarters === undefined ? undefined : wanted < 0n ? 0n : wanted > maxAmount ? maxAmount : wanted;
    const body = {
      ...(limit !== undefined && { limitMinor: `${limit}` }),
      ...(percents && { alertPercents: percents }),
    };
    const reply = await this.#curl.call('PATCH', `/budgets/${this.#idOf(node)}`, body);
    met.add(outcomeOf(reply));
    expect(outcomeOf(reply)).to.equal(this.#model.change(node, limit, percents));
  }

  async compare(): Promise<void> {
    // Reads may be up to a second late.
    await this.#world.service.due.drain(this.#world.org);
    for (const [at, node] of this.#model.nodes.entries()) {
      const { body } = await this.#curl.get(`/budgets/${this.#ids[at]}`);
      const { reserved, settled, available, total } = this.#model.balances(node);
      if (total > settled) met.add('rolled');
      const labels = this.#model.labels(node);
      if (labels['overdrawn']) met.add('paid at a roll');
      if (labels['overdue']) met.add('settled when overdue');
      const start = node.windowMs === null ? null : node.startOf(this.#model.now);
      expect(body, `budget ${at}`).to.deep.include({
        balances: {
          ...{ limit: `${node.limit}`, reserved: `${reserved}`, settled: `${settled}`, available: `${available}` },
          overdrawn: `${node.overdrawn}`,
        },
        settledTotal: `${total}`,
        alertPercents: node.percents,
        parentBudgetId: node.parent && this.#idOf(node.parent),
        windowStartedAt: start && new Date(start).toISOString(),
        windowEndsAt: start && new Date(start + (node.windowMs ?? 0)).toISOString(),
        spentByLabel: labels,
      });
    }
  }

  /** Expects that each alert was announced once in its window, in order. */
  async announced(world: World): Promise<void> {
    const events: Reply['body'][] = [];
    for (let cursor: string | undefined; ; ) {
      const { body } = await world.get(`/events?limit=500${cursor ? `&cursor=${cursor}` : ''}`);
      if (body.events.length === 0) break;
      events.push(...body.events);
      cursor = body.nextCursor;
    }
    const announced = events
      .filter(({ type }) => type === 'budget.threshold_reached')
      .map(({ aggregateId, payload }) => [this.#ids.indexOf(aggregateId), payload.percent]);
    expect(announced).to.deep.equal(this.#model.announcements);
    if (announced.length > 0) met.add('announced');
    if (new Set(announced.map(String)).size < announced.length) met.add('announced again');
  }
}

describe('budget tree model', () => {
  it('keeps every level exact, through windows, overruns and changes of limits, after every step of any sequence', async function () {
    this.timeout(longMs);
    await trySequences({
      ...{ first: budget, step, maxLength: 40, examples: [[plain, everything], windowed, paying], outcomes, met },
      run: async (curl, world, now, first, sequence) => {
        const pair = new Pair(curl, world, now);
        await pair.create({ ...first, parent: null });
        for (const one of sequence) await pair.take(one);
        await pair.announced(world);
      },
    });
  });
});
