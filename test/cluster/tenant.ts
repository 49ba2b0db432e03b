import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { expectAgreement } from '../support/agree.ts';
import { type Answer, call } from '../support/processes.ts';
import type { World } from '../support/world.ts';

const limit = 10n ** 17n;
const settledEach = 4n;
/** Units consumed from the allowance, and units really used. */
const [consumedEach, usedEach] = [1, 2];

/** A well-behaved client of one organization: it uses every primitive, and repeats unanswered calls. */
export class Tenant {
  readonly world: World;
  /** Ids of acknowledged sends, with their times. */
  readonly sent = new Map<string, number>();
  rounds = 0;
  /** The longest time from a call's first failure to its answer, since `forget`. */
  longestMs = 0;
  /** The longest that an attempt took, since then. */
  slowestMs = 0;
  failures = 0;
  readonly statuses = new Set<number>();
  /**
   * Whether its store may lose writes that it has just acknowledged: a call may then not find the record that the
   * previous call made.
   */
  isTorn = false;
  readonly #urls: readonly string[];
  readonly #scopeId = randomUUID();
  readonly #dealScopeId = randomUUID();
  #mailbox = '';
  #keyed = '';
  #budget = '';
  #fleet = '';
  #deals = '';
  #pool = '';
  #tokens = '';
  /** The greatest fence that a hold or a claim had. */
  #fence = 0;
  #allowance = '';
  #clockwork = '';
  #schedule = '';
  readonly #twice: string[] = [];
  /** The figures after a tail of writes was lost. */
  #before = { settled: 0n, reserved: 0n, usedUnits: 0, puts: 0, deals: 0, rounds: 0 };

  constructor(world: World, urls: readonly string[]) {
    this.world = world;
    this.#urls = urls;
  }

  async prepare(): Promise<void> {
    this.#mailbox = (await this.world.mustPost('/mailboxes', { name: 'jobs', backlogLimit: 100_000 })).id;
    this.#keyed = (await this.world.mustPost('/mailboxes', { name: 'keyed', backlogLimit: 100_000, perKey: 1 })).id;
    const budget = { name: 'b', currency: 'EUR', scale: 2, limitMinor: String(limit) };
    this.#budget = (await this.world.mustPost('/budgets', budget)).id;
    this.#fleet = (await this.world.mustPost('/budgets', { ...budget, name: 'fleet' })).id;
    const below = { name: 'deals', parentBudgetId: this.#fleet };
    this.#deals = (await this.world.mustPost('/budgets', { ...budget, ...below })).id;
    this.#pool = (await this.world.mustPost('/pools', { name: 'tools', units: 1_000_000 })).id;
    const allowance = { name: 'a', unitsLimit: 1_000_000_000, windowSeconds: 31_536_000 };
    this.#allowance = (await this.world.mustPost('/allowances', allowance)).id;
    this.#tokens = (await this.world.mustPost('/allowances', { ...allowance, name: 'tokens' })).id;
    this.#clockwork = (await this.world.mustPost('/mailboxes', { name: 'clockwork' })).id;
    const schedule = { mailboxId: this.#clockwork, scopeId: randomUUID(), payload: 1, everySeconds: 5 };
    this.#schedule = (await this.world.mustPost('/schedules', { name: 'clockwork', ...schedule })).id;
  }

  forget(): void {
    this.longestMs = this.slowestMs = this.failures = 0;
  }

  /** Makes a call at any of the processes until it is answered. */
  async ask(path: string, body?: unknown): Promise<Answer> {
    const key = randomUUID();
    let failedAt: number | undefined;
    for (;;) {
      const url = this.#urls[Math.floor(Math.random() * this.#urls.length)] ?? '';
      const begun = performance.now();
      const answer = await call(url, this.world, path, body, key).catch(() => null);
      this.slowestMs = Math.max(this.slowestMs, performance.now() - begun);
      if (answer && answer.status !== 503) {
        this.statuses.add(answer.status);
        if (failedAt !== undefined) this.longestMs = Math.max(this.longestMs, performance.now() - failedAt);
        return answer;
      }
      failedAt ??= begun;
      this.failures++;
      await sleep(20);
    }
  }

  /** One round over the primitives. */
  async round(): Promise<void> {
    const scopeId = this.#scopeId;
    const { body: message } = await this.ask(`/mailboxes/${this.#mailbox}/messages`, { scopeId, payload: this.rounds });
    if (this.sent.has(message.id)) this.#twice.push(message.id);
    this.sent.set(message.id, Date.now());
    await this.#work(scopeId);

    const path = `/budgets/${this.#budget}`;
    const reserved = await this.ask(`${path}/reserve`, { scopeId, holder: 'h', amountMinor: '10' });
    const held = { reservationId: reserved.body.id, workKey: randomUUID() };
    await this.ask(`${path}/settle`, { ...held, amountMinor: String(settledEach) });
    await this.ask(`${path}/void`, held);
    const consume = { scopeId, holder: 'h', units: consumedEach, workKey: randomUUID() };
    const { body: consumption } = await this.ask(`/allowances/${this.#allowance}/consume`, consume);
    const settled = `/allowances/${this.#allowance}/consumptions/${consumption.id}/settle`;
    this.#expect((await this.ask(settled, { units: usedEach })).status, 200);

    const { body: barrier } = await this.ask('/barriers', { scopeId, target: 2 });
    for (const arrivalKey of ['a', 'b']) await this.ask(`/barriers/${barrier.id}/arrive`, { arrivalKey });
    const first = { mailboxId: this.#mailbox, condition: 'FIRST_ACCEPTED', workKey: randomUUID() };
    const { body: group } = await this.ask('/task-groups', first);
    this.#expect((await this.ask('/task-groups', first)).body.id, group.id);
    const { body: task } = await this.ask(`/task-groups/${group.id}/tasks`, { taskKey: 't', input: 1 });
    const again = await this.ask(`/task-groups/${group.id}/tasks`, { taskKey: 't', input: 2, unique: true });
    this.#expect(again.body.taskId, task.taskId);
    await this.#work(group.scopeId);
    await this.ask(`/task-groups/${group.id}/tasks/${task.taskId}/accept`, {});
    await this.#stop();
    await this.#again();
    await this.#operate();
    await this.#inOrder();
    await this.#hold();
    await this.#question();
    await this.#batch();
    await this.#note();
    await this.#deal();
    this.rounds++;
  }

  async #work(scopeId: string): Promise<void> {
    const body = { scopeId, holder: 'agent', holderSession: 's', leaseSeconds: 60 };
    const claim = await this.ask(`/mailboxes/${this.#mailbox}/recv`, body);
    if (claim.status === 200) await this.ask(`/messages/${claim.body.id}/complete`, { token: claim.body.token });
  }

  #expect(actual: unknown, expected: unknown): void {
    if (!this.isTorn) expect(actual).to.deep.equal(expected);
  }

  /** A run that is cancelled with its records. */
  async #stop(): Promise<void> {
    const { body: scope } = await this.ask('/scopes', { name: 'stopped' });
    await this.ask('/barriers', { scopeId: scope.id, target: 2 });
    const { body: message } = await this.ask(`/mailboxes/${this.#mailbox}/messages`, { scopeId: scope.id, payload: 1 });
    const { body } = await this.ask(`/scopes/${scope.id}/cancel`, {});
    const { messages, barriers } = body.cancelled ?? {};
    this.#expect([body.state, body.done, messages, barriers], ['CANCELLED', true, 1, 1]);
    this.sent.set(message.id, Date.now());
  }

  /** A message that is delayed, cancelled, requeued, and received together with other messages of any run. */
  async #again(): Promise<void> {
    const path = `/mailboxes/${this.#mailbox}`;
    const sent = { scopeId: randomUUID(), payload: 1, delaySeconds: 600, maxAttempts: 2, priority: 5 };
    const { body: message } = await this.ask(`${path}/messages`, sent);
    this.#expect(message.state, 'DELAYED');
    await this.ask(`/messages/${message.id}/cancel`, {});
    this.#expect((await this.ask(`/messages/${message.id}/requeue`, {})).body.state, 'READY');
    const all = { scopeId: '*', holder: 'agent', holderSession: 's', leaseSeconds: 60, max: 5 };
    const { status, body } = await this.ask(`${path}/recv`, all);
    for (const { id, token } of status === 200 ? body.messages : [])
      await this.ask(`/messages/${id}/complete`, { token });
    this.sent.set(message.id, Date.now());
  }

  /** A message that workers purge, unless that is cancelled before; and a claim that is taken away. */
  async #operate(): Promise<void> {
    const path = `/mailboxes/${this.#mailbox}`;
    const [scopeId, other] = [randomUUID(), randomUUID()];
    const { body: message } = await this.ask(`${path}/messages`, { scopeId, payload: 1, delaySeconds: 600 });
    const { body: bulk } = await this.ask(`/scopes/${scopeId}/bulk`, { action: 'PURGE' });
    const { body: held } = await this.ask(`${path}/messages`, { scopeId: other, payload: 1 });
    const claim = await this.ask(`${path}/recv`, { scopeId: other, holder: 'agent', holderSession: 's' });
    if (claim.status === 200) this.#expect((await this.ask(`/messages/${held.id}/release`, {})).body.state, 'READY');
    await this.#work(other);
    const { body: ended } = await this.ask(`/bulk/${bulk.id}/cancel`, {});
    const { body: shown } = await this.ask(`/messages/${message.id}`);
    this.#expect(shown.state, ended.done === 1 ? 'CANCELLED' : 'DELAYED');
    for (const { id } of [message, held]) this.sent.set(id, Date.now());
  }

  /** Two messages of a key: the second one follows the first, whatever its priority. Then both are removed. */
  async #inOrder(): Promise<void> {
    const path = `/mailboxes/${this.#keyed}`;
    const sent = { scopeId: randomUUID(), payload: 1, key: `round ${this.rounds}` };
    const { body: first } = await this.ask(`${path}/messages`, sent);
    const { body: second } = await this.ask(`${path}/messages`, { ...sent, priority: 9 });
    this.#expect([first.state, second.state], ['READY', 'BLOCKED']);
    this.#expect((await this.ask(`${path}/pause`, {})).body.paused, true);
    const none = await this.ask(`${path}/recv`, { scopeId: sent.scopeId, holder: 'agent', holderSession: 's' });
    this.#expect(none.status, 204);
    this.#expect((await this.ask(`${path}/resume`, {})).body.paused, false);
    for (const { id } of [first, second]) {
      const body = { scopeId: sent.scopeId, holder: 'agent', holderSession: 's', leaseSeconds: 60 };
      const claim = await this.ask(`${path}/recv`, body);
      // A receive whose answer was lost has claimed it.
      if (claim.status !== 200) return;
      this.#expect(claim.body.id, id);
      await this.ask(`/messages/${claim.body.id}/complete`, { token: claim.body.token });
    }
    this.#expect((await this.ask(`${path}/purge`, { finished: true })).body.removed, 2);
  }

  /** A hold, and a claim of units and tokens, each with a greater fence than the one before, whatever the store has lost. */
  async #hold(): Promise<void> {
    const scopeId = randomUUID();
    const agent = { scopeId, holder: 'agent', holderSession: 's', leaseSeconds: 60 };
    const { body: hold } = await this.ask(`/pools/${this.#pool}/acquire`, agent);
    this.#expectFence(hold.fence);
    this.#expect((await this.ask(`/pool-holds/${hold.id}/release`, { token: hold.token })).body.state, 'RELEASED');
    const requires = { pools: [{ poolId: this.#pool }], quotas: [{ allowanceId: this.#tokens, units: 1 }] };
    const path = `/mailboxes/${this.#mailbox}`;
    const { body: message } = await this.ask(`${path}/messages`, { scopeId, payload: 1, requires });
    this.sent.set(message.id, Date.now());
    const claim = await this.ask(`${path}/recv`, agent);
    // A receive whose answer was lost has claimed it.
    if (claim.status !== 200) return;
    this.#expectFence(claim.body.holds[0]?.fence);
    this.#expect(claim.body.consumptions[0]?.units, 1);
    await this.ask(`/messages/${claim.body.id}/complete`, { token: claim.body.token });
  }

  #expectFence(fence: number): void {
    expect(fence).to.be.above(this.#fence);
    this.#fence = fence;
  }

  /** A question that is answered once: another answer is refused. */
  async #question(): Promise<void> {
    const { body: question } = await this.ask('/questions', { scopeId: this.#scopeId, question: this.rounds });
    const answer = (answer: number) => this.ask(`/questions/${question.id}/answer`, { answer, answeredBy: 'ann' });
    this.#expect((await answer(1)).body.state, 'ANSWERED');
    this.#expect((await answer(2)).status, 409);
  }

  /** Two messages in one request, repeated until both are answered. */
  async #batch(): Promise<void> {
    const send = { call: 'message.send', mailboxId: this.#mailbox, scopeId: randomUUID(), payload: 1 };
    const key = { idempotencyKey: randomUUID() };
    const calls = [
      { ...send, ...key },
      { ...send, idempotencyKey: `${key.idempotencyKey}-2` },
    ];
    for (;;) {
      const { results } = (await this.ask('/batch', { calls })).body;
      for (const { status, body } of results) if (status === 201) this.sent.set(body.id, Date.now());
      if (results.every(({ status }: Answer) => status === 201)) return;
      expect(results.every(({ status }: Answer) => status === 201 || status === 503)).to.equal(true);
      await sleep(20);
    }
  }

  /** A note that is put once in each round. */
  async #note(): Promise<void> {
    const put = { call: 'note.put', scopeId: this.#scopeId, key: 'round', value: this.rounds };
    const calls = [{ ...put, idempotencyKey: randomUUID() }];
    for (;;) {
      const { status } = (await this.ask('/batch', { calls })).body.results[0];
      if (status !== 503) return this.#expect(status < 300, true);
      await sleep(20);
    }
  }

  /** Money, a note and a message in one step; then a read of them at one instant. */
  async #deal(): Promise<void> {
    const scopeId = this.#dealScopeId;
    const of = { budgetId: this.#deals, reservationId: { $from: 0 }, workKey: randomUUID() };
    const calls = [
      { call: 'budget.reserve', budgetId: this.#deals, scopeId, holder: 'h', amountMinor: '10' },
      { call: 'budget.settle', ...of, amountMinor: String(settledEach) },
      { call: 'budget.void', ...of },
      { call: 'note.put', scopeId, key: 'deals', value: this.rounds },
      { call: 'message.send', mailboxId: this.#mailbox, scopeId: randomUUID(), payload: 1 },
    ];
    const { status, body } = await this.ask('/batch', { atomic: true, calls });
    this.#expect(status, 200);
    this.sent.set(body.results[4].body.id, Date.now());
    const look = [
      { call: 'budget.view', budgetId: this.#deals },
      { call: 'note.view', scopeId, key: 'deals' },
    ];
    const [budget, note] = (await this.ask('/batch', { atomic: true, calls: look })).body.results;
    // A replay shows null for its reads.
    if (budget.body && note.body) this.#expectWhole(budget.body, note.body);
  }

  /** Expects that each put of the note came with one settlement, and that nothing stays reserved. */
  #expectWhole({ balances }: Answer['body'], { version }: Answer['body']): void {
    expect([balances.settled, balances.reserved], 'deals').to.deep.equal([String(BigInt(version) * settledEach), '0']);
  }

  async #messageIds(): Promise<Set<string>> {
    const there = new Set<string>();
    for (let cursor: string | null = ''; cursor !== null; ) {
      const at: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await this.world.get(`/mailboxes/${this.#mailbox}/messages?limit=200${at}`);
      for (const { id } of body.messages) there.add(id);
      cursor = body.nextCursor;
    }
    return there;
  }

  /** Call it between rounds. The stored records must be consistent, and include everything acknowledged. */
  async check(): Promise<void> {
    const { settled, reserved, usedUnits, puts, deals } = await this.#consistent();
    const there = await this.#messageIds();
    expect(
      [...this.sent.keys()].filter((id) => !there.has(id)),
      'acknowledged sends that are lost',
    ).to.deep.equal([]);
    expect(settled - this.#before.settled).to.equal(BigInt(this.rounds - this.#before.rounds) * settledEach);
    expect(reserved).to.equal(this.#before.reserved);
    expect(usedUnits - this.#before.usedUnits).to.equal(usedEach * (this.rounds - this.#before.rounds));
    expect(puts - this.#before.puts, 'puts of the note').to.equal(this.rounds - this.#before.rounds);
    expect(deals - this.#before.deals, 'deals').to.equal(this.rounds - this.#before.rounds);
  }

  /**
   * Like `check`, but a tail of acknowledged writes may be lost. Returns the times of the lost sends, and continues
   * from the stored state.
   */
  async checkTorn(): Promise<number[]> {
    this.isTorn = false;
    this.#before = { ...(await this.#consistent()), rounds: this.rounds };
    const there = await this.#messageIds();
    const lost = [...this.sent].filter(([id]) => !there.has(id));
    for (const [id] of lost) this.sent.delete(id);
    return lost.map(([, at]) => at);
  }

  async #consistent() {
    expect(this.#twice, 'ids issued twice').to.deep.equal([]);
    // A schedule that fires between two reads would be in only one of them.
    const switched = async (state: string): Promise<void> => {
      const { status } = await this.world.call('PATCH', `/schedules/${this.#schedule}`, { state });
      expect(status).to.equal(200);
    };
    await switched('PAUSED');
    await expectAgreement(this.world);
    const { messages } = (await this.world.get(`/mailboxes/${this.#clockwork}/messages?limit=200`)).body;
    await switched('ACTIVE');
    const moments = messages.map(({ workKey }: { workKey: string }) => workKey);
    expect(new Set(moments).size, 'moments of a schedule').to.equal(moments.length);
    const { balances } = (await this.world.get(`/budgets/${this.#budget}`)).body;
    const [settled = 0n, reserved = 0n, available = 0n] = [balances.settled, balances.reserved, balances.available].map(
      BigInt,
    );
    expect(settled + reserved + available).to.equal(limit);
    const { usedUnits } = (await this.world.get(`/allowances/${this.#allowance}`)).body;
    const deals = (await this.world.get(`/budgets/${this.#deals}`)).body;
    const fleet = (await this.world.get(`/budgets/${this.#fleet}`)).body;
    expect(fleet.balances, 'the budget above').to.deep.equal(deals.balances);
    const deal = await this.world.get(`/scopes/${this.#dealScopeId}/notes/deals`);
    this.#expectWhole(deals, deal.status === 200 ? deal.body : { version: 0 });
    const note = await this.world.get(`/scopes/${this.#scopeId}/notes/round`);
    return { settled, reserved, usedUnits, puts: note.body.version ?? 0, deals: deal.body.version ?? 0 };
  }
}
