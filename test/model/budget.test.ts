import { expect } from 'chai';
import fc from 'fast-check';
import { longMs } from '../support/long.ts';
import type { Reply, World } from '../support/world.ts';
import { BudgetModel, type Held, remainderOf } from './budget.model.ts';
import type { Curl } from './curl.ts';
import { trySequences } from './sequences.ts';

const maxAmount = 10n ** 18n - 1n;
const scopeId = '0190a1b2-0000-7000-8000-000000000000';

/** A share of the available amount, a little more or less, so that sequences reach every bound. */
const amount = fc.record({
  quarters: fc.bigInt({ min: 0n, max: 4n }),
  more: fc.bigInt({ min: -1n, max: 1n }),
  zeros: fc.nat(2),
});
type Amount = typeof amount extends fc.Arbitrary<infer T> ? T : never;
const index = fc.nat(9);
const step = fc.oneof(
  fc.record({
    do: fc.constant('reserve' as const),
    amount,
    settleBy: fc.option(fc.integer({ min: 1, max: 5000 })),
    onOverdue: fc.constantFrom('KEEP' as const, 'SETTLE' as const),
    workKey: fc.option(fc.constantFrom('r0', 'r1')),
  }),
  fc.record({ do: fc.constant('limit' as const), amount }),
  fc.record({ do: fc.constant('settle' as const), index, amount, workKey: index }),
  fc.record({
    do: fc.constant('overrun' as const),
    index,
    amount,
    times: fc.bigInt({ min: 1n, max: 3n }),
    workKey: index,
  }),
  fc.record({ do: fc.constant('void' as const), index, workKey: index }),
  fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 4000 }) }),
  fc.record({ do: fc.constant('again' as const), index }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const part = (quarters: bigint, more = 0n): Amount => ({ quarters, more, zeros: 0 });
const settle = (asked: Amount, workKey: number): Step => ({ do: 'settle', index: 0, amount: asked, workKey });
const reserve = (asked: Amount, workKey: 'r0' | null = null): Step => ({
  ...{ do: 'reserve', amount: asked, settleBy: null, onOverdue: 'KEEP', workKey },
});
/** Produces every outcome, so that none depends on chance. */
const everything: Step[] = [
  ...[reserve(part(0n)), reserve(part(4n, 1n)), reserve(part(2n)), settle(part(4n, 1n), 0)],
  ...[settle(part(0n, 1n), 1), settle(part(0n, 1n), 1), settle(part(0n), 1)],
  ...[{ do: 'void' as const, index: 0, workKey: 2 }, settle(part(0n), 3)],
  ...[reserve(part(0n, 1n), 'r0'), reserve(part(0n, 1n), 'r0'), reserve(part(4n), 'r0')],
  // 40 reserved, of which 120 are spent: the budget is overdrawn, a limit covers part of it, then all.
  ...[reserve(part(2n)), { do: 'overrun' as const, index: 2, amount: part(4n), times: 3n, workKey: 4 }],
  ...[reserve(part(0n, 1n)), { do: 'limit' as const, amount: part(2n) }, reserve(part(0n, 1n))],
  ...[{ do: 'limit' as const, amount: part(4n) }],
  ...[
    { do: 'limit' as const, amount: part(4n, 1n) },
    { do: 'limit' as const, amount: part(0n, -1n) },
  ],
  // Overdue with 1 left, which is settled; then a settle and a void come too late.
  { do: 'limit' as const, amount: part(4n, 3n) },
  { do: 'reserve' as const, amount: part(0n, 1n), settleBy: 9, onOverdue: 'SETTLE' as const, workKey: null },
  { do: 'pass' as const, ms: 9 },
  { do: 'settle' as const, index: 3, amount: part(0n, 1n), workKey: 5 },
  { do: 'void' as const, index: 3, workKey: 6 },
  // Every kind of call, the creation included.
  ...Array.from({ length: 10 }, (_, index) => ({ do: 'again' as const, index })),
];

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
/** The outcomes that all sequences together must produce, and those produced so far. */
const outcomes = ['201', '200', 'replay', 'VALIDATION_FAILED', 'INSUFFICIENT_BUDGET', 'WORK_KEY_CONFLICT'].concat(
  'RESERVATION_CLOSED',
  'SETTLEMENT_EXCEEDS_RESERVATION',
  'LIMIT_BELOW_USE',
  'overdrawn',
  'covered',
  'settled when overdue',
);
const met = new Set<string>();

const outcomeOf = (reply: Reply): string =>
  reply.body?.error?.code ?? (reply.body?.replay === true ? 'replay' : `${reply.status}`);

/** A budget of the service, compared with the model. */
class Pair {
  readonly #curl: Curl;
  readonly #model: BudgetModel;
  readonly #id: string;
  #now: number;
  readonly #world: World;

  constructor(curl: Curl, world: World, model: BudgetModel, id: string, now: number) {
    this.#curl = curl;
    this.#world = world;
    this.#model = model;
    this.#id = id;
    this.#now = now;
  }

  async take(step: Step): Promise<void> {
    this.#now += step.do === 'pass' ? step.ms : 1;
    await this.#curl.at(this.#now);
    this.#model.pass(this.#now);
    if (step.do === 'reserve') await this.#reserve(step);
    if (step.do === 'limit') await this.#limit(step.amount);
    if (step.do === 'settle') await this.#close('settle', step.index, step.workKey, step.amount);
    if (step.do === 'overrun') await this.#close('overrun', step.index, step.workKey, step.amount, step.times);
    if (step.do === 'void') await this.#close('void', step.index, step.workKey);
    if (step.do === 'again') await this.#curl.again(step.index);
    await this.#compare();
  }

  /** Sets a limit between what is in use and the present limit with what is overdrawn, or just outside. */
  async #limit(asked: Amount): Promise<void> {
    const inUse = this.#model.limit - BigInt(this.#model.balances['available'] ?? 0);
    const [, free] = this.#amount({ ...asked, more: 0n }, this.#model.limit - inUse + this.#model.overdrawn);
    const wanted = inUse + free + asked.more;
    const limit = wanted < 0n ? 0n : wanted > maxAmount ? maxAmount : wanted;
    const reply = await this.#curl.call('PATCH', `/budgets/${this.#id}`, { limitMinor: `${limit}` });
    met.add(outcomeOf(reply));
    const { overdrawn } = this.#model;
    expect(outcomeOf(reply)).to.equal(this.#model.change(limit));
    if (overdrawn > this.#model.overdrawn) met.add('covered');
    if (reply.status === 200) expect(reply.body.balances).to.deep.equal(this.#model.balances);
  }

  async #reserve({ amount, workKey, ...when }: Extract<Step, { do: 'reserve' }>): Promise<void> {
    const [text, value] = this.#amount(amount, BigInt(this.#model.balances['available'] ?? 0));
    const settleBy = when.settleBy === null ? null : this.#now + when.settleBy;
    const onOverdue = settleBy === null ? 'KEEP' : when.onOverdue;
    const body = { scopeId, holder: 'h', amountMinor: text, settleBy: iso(settleBy), onOverdue, workKey };
    const reply = await this.#post('reserve', body);
    const outcome = this.#model.reserve(value, workKey);
    expect(outcomeOf(reply)).to.equal(outcome);
    if (reply.status !== 201) return;
    const first = this.#model.reservationWith(workKey);
    if (outcome === 'replay' && first) return this.#replayed(reply, first);
    const created = { id: reply.body.id, amount: value, settleBy, onOverdue, workKey, createdAt: this.#now };
    const held: Held = { ...created, settled: 0n, voided: 0n, closedAt: null };
    this.#model.reservations.push(held);
    expect(reply.body).to.deep.equal({ ...this.#record(held), replay: false, balances: this.#model.balances });
  }

  #replayed(reply: Reply, first: Held): void {
    expect(reply.body).to.deep.equal({ ...this.#record(first), replay: true, balances: this.#model.balances });
  }

  /** times: so many times the remainder are there to be overrun. */
  async #close(
    kind: 'settle' | 'overrun' | 'void',
    index: number,
    workKey: number,
    asked?: Amount,
    times = 1n,
  ): Promise<void> {
    const held = this.#model.reservations[index % Math.max(1, this.#model.reservations.length)];
    if (!held) return;
    if (held.onOverdue === 'SETTLE' && held.closedAt === held.settleBy) met.add('settled when overdue');
    const [amountMinor, value] = asked ? this.#amount(asked, remainderOf(held) * times) : [undefined, 0n];
    const reply = await this.#post(kind === 'void' ? 'void' : 'settle', {
      reservationId: held.id,
      workKey: `w${workKey}`,
      ...(amountMinor && { amountMinor }),
      ...(kind === 'overrun' && { overrun: true }),
    });
    const [outcome, taken] = this.#model.take(kind, held, value, `w${workKey}`, this.#now);
    expect(outcomeOf(reply)).to.equal(outcome);
    if (reply.status !== 200) return;
    if (taken.overdrawn > 0n) met.add('overdrawn');
    const { entry, replay, reservation, balances } = reply.body;
    expect(entry).to.include({
      budgetId: this.#id,
      reservationId: held.id,
      kind: kind === 'void' ? 'VOID' : 'SETTLE',
      amountMinor: `${taken.amount}`,
      overdrawnMinor: `${taken.overdrawn}`,
    });
    expect({ replay, reservation, balances }).to.deep.equal({
      replay: outcome === 'replay',
      reservation: this.#record(held),
      balances: this.#model.balances,
    });
  }

  async #post(what: string, body: unknown): Promise<Reply> {
    const path = `/budgets/${this.#id}/${what}`;
    const reply = await this.#curl.post(path, body);
    met.add(outcomeOf(reply));
    return reply;
  }

  async #compare(): Promise<void> {
    // Reads may be up to a second late.
    await this.#world.service.due.drain(this.#world.org);
    const { body } = await this.#curl.get(`/budgets/${this.#id}?limit=200`);
    const { limit, reserved, settled, available } = body.balances;
    expect(BigInt(limit)).to.equal(BigInt(reserved) + BigInt(settled) + BigInt(available));
    expect(body.balances).to.deep.equal(this.#model.balances);
    const newestFirst = this.#model.reservations.toReversed();
    const inOrder = [
      ...newestFirst.filter((held) => held.closedAt === null),
      ...newestFirst.filter((held) => held.closedAt !== null),
    ];
    expect(body.reservations).to.deep.equal(inOrder.map((held) => this.#record(held)));
  }

  /** Expects one event for every settleBy that passed while its reservation was ACTIVE. */
  async overdue(): Promise<void> {
    await this.#curl.post(`/budgets/${this.#id}/void`, { reservationId: scopeId, workKey: 'unknown' });
    const emitted = (await this.#world.eventTypes()).filter((type) => type === 'budget.reservation_overdue');
    expect(emitted.length).to.equal(this.#model.reservations.filter((held) => this.#record(held)['overdue']).length);
  }

  #amount(asked: Amount, there: bigint): [text: string, value: bigint] {
    const wanted = (there * asked.quarters) / 4n + asked.more;
    const value = wanted < 0n ? 0n : wanted > maxAmount ? maxAmount : wanted;
    return [`${value}`.padStart(Math.min(18, `${value}`.length + asked.zeros), '0'), value];
  }

  #record(held: Held): Record<string, unknown> {
    const state = held.closedAt === null ? 'ACTIVE' : held.voided > 0n ? 'VOIDED' : 'SETTLED';
    return {
      ...{
        id: held.id,
        budgetId: this.#id,
        scopeId,
        holder: 'h',
        amountMinor: `${held.amount}`,
        settledMinor: `${held.settled}`,
      },
      ...{ voidedMinor: `${held.voided}`, remainingMinor: `${remainderOf(held)}`, state, settleBy: iso(held.settleBy) },
      onOverdue: held.onOverdue,
      ...{ overdue: held.settleBy !== null && held.settleBy <= (held.closedAt ?? this.#now) },
      ...{ workKey: held.workKey, createdAt: iso(held.createdAt), closedAt: iso(held.closedAt) },
    };
  }
}

describe('budget model', () => {
  it('keeps limit = reserved + settled + available, exactly, after every step of any sequence', async function () {
    this.timeout(longMs);
    const first = fc.oneof(
      fc.bigInt({ min: maxAmount - 9n, max: maxAmount }),
      fc.bigInt({ min: 0n, max: maxAmount }),
      fc.bigInt({ min: 0n, max: 9n }),
    );
    await trySequences({
      ...{ first, step, maxLength: 80, examples: [[100n, everything]], outcomes, met },
      run: async (curl, world, now, limit, sequence) => {
        const { body } = await curl.post('/budgets', { name: 'b', currency: 'EUR', scale: 2, limitMinor: `${limit}` });
        const pair = new Pair(curl, world, new BudgetModel(limit), body.id, now);
        for (const one of sequence) await pair.take(one);
        await pair.overdue();
      },
    });
  });
});
