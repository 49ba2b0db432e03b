import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { codeOf, type Reply, type World } from '../support/world.ts';
import type { Curl } from './curl.ts';
import { type End, Item, type Need, type OrderModel, policies, type Sent } from './order.model.ts';

export const index = fc.nat(30);
const run = fc.nat(1);
export const perKeys = fc.constantFrom(1, 1, 2, 3, null);
export const is = <T extends string>(name: T) => fc.constant(name);
/** Calls of a mailbox, and time that passes. */
export const orderSteps = [
  {
    weight: 9,
    arbitrary: fc.record({
      do: is('send'),
      run,
      priority: fc.constantFrom<number>(0, 0, 1, 2),
      key: fc.constantFrom<string | undefined>(undefined, 'a', 'a', 'b'),
      after: fc.array(index, { maxLength: 2 }),
      policy: fc.constantFrom(...policies),
      delaySeconds: fc.constantFrom<number>(0, 0, 0, 2, 6),
      lifeSeconds: fc.constantFrom<number | undefined>(undefined, undefined, undefined, 9, 20),
      maxAttempts: fc.constantFrom<number>(1, 2, 5),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: is('recv'),
      run: fc.constantFrom<number | '*'>(0, 1, '*'),
      max: fc.constantFrom<number>(1, 1, 3),
      leaseSeconds: fc.constantFrom<number>(5, 7, 60),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: is('complete'), index }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: is('nack'),
      index,
      retry: fc.constantFrom(true, true, false),
      countsAttempt: fc.constantFrom(true, true, false),
      delaySeconds: fc.constantFrom(undefined, 0, 4),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: is('cancel'), index }) },
  { weight: 3, arbitrary: fc.record({ do: is('requeue'), index, delaySeconds: fc.constantFrom<number>(0, 0, 3) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: is('requeueAll'),
      state: fc.constantFrom('REJECTED' as const, 'FAILED' as const, 'EXPIRED' as const, 'CANCELLED' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: is('purge'), run: fc.constantFrom(0, 1, undefined) }) },
  { weight: 1, arbitrary: fc.record({ do: is('cancelRun'), run }) },
  { weight: 2, arbitrary: fc.record({ do: is('perKey'), perKey: perKeys }) },
  { weight: 1, arbitrary: fc.record({ do: is('pause'), run: fc.constantFrom(0, 1, undefined) }) },
  { weight: 2, arbitrary: fc.record({ do: is('resume'), run: fc.constantFrom(0, 1, undefined) }) },
  { weight: 4, arbitrary: fc.record({ do: is('wait'), seconds: fc.constantFrom<number>(1, 3, 8) }) },
  { weight: 2, arbitrary: fc.record({ do: is('look') }) },
];
export type OrderStep = (typeof orderSteps)[number]['arbitrary'] extends fc.Arbitrary<infer T> ? T : never;
export type Do<T extends OrderStep['do']> = Extract<OrderStep, { do: T }>;

export const plain = {
  ...{ do: 'send' as const, run: 0, priority: 0, key: undefined, after: [], policy: 'CANCEL' as const },
  ...{ delaySeconds: 0, lifeSeconds: undefined, maxAttempts: 5 },
};
const receives = (max: number, leaseSeconds: number): OrderStep => ({ do: 'recv', run: '*', max, leaseSeconds });
const looks: OrderStep = { do: 'look' };
/** Every outcome of the order, for perKey 1 and no pause before retries. */
export const orderExample: OrderStep[] = [
  ...[
    { ...plain, key: 'a', maxAttempts: 1 },
    { ...plain, key: 'a' },
  ],
  ...[{ ...plain, run: 1, key: 'a', lifeSeconds: 9 }, looks, receives(1, 5)],
  ...[{ do: 'wait' as const, seconds: 8 }, looks, { do: 'perKey' as const, perKey: null }, receives(3, 60), looks],
  ...[receives(1, 60), { do: 'complete' as const, index: 0 }, { do: 'requeue' as const, index: 1, delaySeconds: 0 }],
  ...[
    { do: 'wait' as const, seconds: 3 },
    { ...plain, after: [0] },
    { ...plain, run: 1 },
  ],
  ...[{ ...plain, run: 1, after: [3] }, { ...plain, delaySeconds: 6 }, looks, receives(1, 60)],
  { do: 'nack', index: 0, retry: false, countsAttempt: true, delaySeconds: undefined },
  ...[{ do: 'cancelRun' as const, run: 0 }, { do: 'requeue' as const, index: 0, delaySeconds: 0 }, looks],
];

/** The outcomes that the sequences have produced so far. */
export const met = new Set<string>();

/** The request that creates a message. */
export interface Way {
  readonly path: string;
  readonly scopeId: string;
  readonly body: object;
  readonly requires?: readonly Need[];
  /** The expected refusal, if anything but the order prevents it. */
  readonly refusal?: string | undefined;
}

/** A mailbox of the service, compared with the model. */
export class OrderPair<M extends OrderModel = OrderModel> {
  protected readonly curl: Curl;
  protected readonly world: World;
  protected readonly model: M;
  protected readonly mailbox: string;
  /** The scopes of the two runs; one that was cancelled is replaced. */
  protected readonly scopes: string[] = [randomUUID(), randomUUID()];
  protected now: number;

  constructor(curl: Curl, world: World, model: M, mailboxId: string, now: number) {
    this.curl = curl;
    this.world = world;
    this.model = model;
    this.mailbox = `/mailboxes/${mailboxId}`;
    this.now = now;
  }

  /** Makes the scopes, and has runs take turns from the beginning. */
  async begin(): Promise<void> {
    for (const scopeId of this.scopes) await this.curl.post('/scopes', { scopeId });
    await this.post(`${this.mailbox}/recv`, { scopeId: '*', holder: 'h', holderSession: 's' });
  }

  protected post(path: string, body?: unknown): Promise<Reply> {
    return this.curl.post(path, body);
  }

  /** Each step has a moment of its own, also different from all moments that steps set for later. */
  protected async move(seconds = 0): Promise<void> {
    this.now += 1 + 1_000 * seconds;
    await this.curl.at(this.now);
    this.model.advance(this.now);
  }

  async take(one: OrderStep): Promise<void> {
    await this.move(one.do === 'wait' ? one.seconds : 0);
    if (one.do === 'send') await this.send(one);
    else if (one.do === 'recv') await this.recv(one);
    else if (one.do === 'complete' || one.do === 'nack') await this.#end(one);
    else if (one.do === 'cancel') await this.#cancel(one);
    else if (one.do === 'requeue') await this.#requeue(one);
    else if (one.do === 'requeueAll') await this.#requeueAll(one);
    else if (one.do === 'purge') await this.#purge(one);
    else if (one.do === 'cancelRun') await this.#cancelRun(one);
    else if (one.do === 'perKey') await this.#setPerKey(one);
    else if (one.do === 'pause' || one.do === 'resume') await this.#pause(one);
    else if (one.do === 'look') await this.look();
  }

  protected pick(items: readonly Item[], at: number): Item | undefined {
    return items[at % Math.max(1, items.length)];
  }

  protected way(one: Do<'send'>): Way {
    const scopeId = this.scopes[one.run] as string;
    return { path: `${this.mailbox}/messages`, scopeId, body: { scopeId, payload: 1 } };
  }

  protected async send(one: Do<'send'>, way = this.way(one)): Promise<Item | undefined> {
    const { run, priority, key, policy, maxAttempts, delaySeconds, lifeSeconds } = one;
    const after = [...new Set(one.after.flatMap((at) => this.pick(this.model.items, at) ?? []))];
    const deadline = lifeSeconds === undefined ? undefined : this.now + 1_000 * lifeSeconds;
    const { path, scopeId, body, requires, refusal } = way;
    const reply = await this.post(path, {
      ...{ ...body, priority, key, maxAttempts },
      ...(delaySeconds > 0 && { delaySeconds }),
      ...(deadline !== undefined && { deadline: new Date(deadline).toISOString() }),
      ...(after.length > 0 && { after: after.map(({ id }) => ({ messageId: id })), onFailure: policy }),
    });
    const sent: Sent = { run, priority, key, policy, maxAttempts, after, deadline, requires };
    const open = this.model.judge(sent);
    if (refusal !== undefined || !open) {
      this.expect(reply, refusal ?? '409 PREREQUISITE_FAILED');
      return undefined;
    }
    this.expect(reply, '201');
    const item = new Item(reply.body.messageId ?? reply.body.id, sent, scopeId);
    this.model.begin(item, open, 1_000 * delaySeconds, this.now);
    if (reply.body.messageId === undefined) expect(reply.body.state).to.equal(item.state);
    return item;
  }

  protected expect(reply: Reply, code: string): void {
    met.add(code);
    expect(codeOf(reply)).to.equal(code);
  }

  /** Receives. Returns the claims, and the queues of the requested runs, from whose fronts they must come. */
  protected async receive({ run: from, max, leaseSeconds }: Do<'recv'>): Promise<[Reply['body'][], Item[][]]> {
    const scopeId = from === '*' ? from : this.scopes[from];
    const body = { scopeId, max, leaseSeconds, holder: 'h', holderSession: 's' };
    const reply = await this.post(`${this.mailbox}/recv`, body);
    expect(reply.status).to.equal(reply.body === undefined ? 204 : 200);
    met.add(reply.body === undefined ? 'nothing' : 'received');
    const scopes = from === '*' ? this.scopes : [scopeId as string];
    return [reply.body?.messages ?? [], scopes.map((scope) => this.model.queue(scope))];
  }

  protected claim(item: Item, token: string, leaseSeconds: number): void {
    const at = Math.min(this.now + 1_000 * leaseSeconds, item.deadline ?? Number.POSITIVE_INFINITY);
    Object.assign(item, { state: 'CLAIMED', token, at, attempts: item.attempts + 1 });
  }

  protected async recv(one: Do<'recv'>): Promise<void> {
    const [messages, queues] = await this.receive(one);
    const wanted = Math.min(one.max, queues.flat().length);
    // While anything is paused, a receive may return fewer than are ready.
    const least = this.model.pausedScopes.size > 0 ? Math.min(1, wanted) : wanted;
    expect(messages.length, 'received').to.be.within(least, wanted);
    const served: number[] = [];
    for (const { id, token } of messages) {
      const at = queues.findIndex((queue) => queue[0]?.id === id);
      expect(at, `${id} is the next of its run`).to.be.at.least(0);
      const item = queues[at]?.shift() as Item;
      const isOthersTurn = served.at(-1) === at && queues.some((queue, other) => other !== at && queue.length > 0);
      expect(isOthersTurn, 'runs take turns').to.equal(false);
      served.push(at);
      this.claim(item, token, one.leaseSeconds);
    }
    if (new Set(served).size > 1) met.add('in turn');
  }

  async #end(one: Do<'complete'> | Do<'nack'>): Promise<void> {
    const item = this.pick(this.model.of('CLAIMED'), one.index);
    if (!item) return;
    const { token, id } = item;
    if (one.do === 'complete') {
      this.expect(await this.post(`/messages/${id}/complete`, { token }), '200');
      this.model.end(item, 'ACKED', this.now);
      return;
    }
    const { retry, countsAttempt, delaySeconds } = one;
    const isCounted = countsAttempt || !retry;
    const body = { token, retry, ...(retry && { countsAttempt, delaySeconds }) };
    this.expect(await this.post(`/messages/${id}/nack`, body), '200');
    if (!retry) this.model.end(item, 'REJECTED', this.now);
    else if (isCounted && item.attempts >= item.of.maxAttempts) this.model.end(item, 'FAILED', this.now);
    else {
      if (!isCounted) item.attempts--;
      const delayMs = delaySeconds === undefined ? undefined : 1_000 * delaySeconds;
      this.model.giveBack(item, delayMs ?? (isCounted ? undefined : 0), this.now);
    }
  }

  async #cancel({ index: at }: Do<'cancel'>): Promise<void> {
    const item = this.pick(this.model.items, at);
    if (!item) return;
    const reply = await this.post(`/messages/${item.id}/cancel`);
    this.expect(reply, item.isLive || item.state === 'CANCELLED' ? '200' : '409 MESSAGE_FINISHED');
    if (item.isLive) this.model.end(item, 'CANCELLED', this.now);
  }

  /** Why an item cannot be requeued, or what it then waits for. */
  protected obstacle(item: Item): string | Set<Item> {
    if (item.isLive || item.state === 'ACKED') return '409 MESSAGE_NOT_REQUEUABLE';
    if (this.model.cancelledScopes.has(item.scope)) return '409 SCOPE_CANCELLED';
    return this.model.judge(item.of) ?? '409 PREREQUISITE_FAILED';
  }

  #bringBack(item: Item, open: Set<Item>, delaySeconds: number): void {
    if (item.deadline !== undefined && item.deadline <= this.now) item.deadline = undefined;
    this.model.begin(item, open, 1_000 * delaySeconds, this.now);
  }

  async #requeue({ index: at, delaySeconds }: Do<'requeue'>): Promise<void> {
    const ended = this.model.items.filter(({ isLive }) => !isLive);
    const item = this.pick(ended.length > 0 ? ended : this.model.items, at);
    if (!item) return;
    const reply = await this.post(`/messages/${item.id}/requeue`, delaySeconds > 0 ? { delaySeconds } : undefined);
    const open = this.obstacle(item);
    if (typeof open === 'string') return this.expect(reply, open);
    const { deadline = 0 } = item;
    if (deadline > this.now && this.now + 1_000 * delaySeconds >= deadline)
      return this.expect(reply, '400 VALIDATION_FAILED');
    this.expect(reply, '200');
    this.#bringBack(item, open, delaySeconds);
    expect(reply.body.state).to.equal(item.state);
  }

  async #requeueAll({ state }: Do<'requeueAll'>): Promise<void> {
    const { body } = await this.post(`${this.mailbox}/requeue`, { state });
    let requeued = 0;
    // A requeued message may be a prerequisite of a later one.
    for (const item of this.model.of(state as End)) {
      const open = this.obstacle(item);
      if (typeof open === 'string') continue;
      this.#bringBack(item, open, 0);
      requeued++;
    }
    expect(body.requeued).to.equal(requeued);
  }

  /**
   * Whether the result of ending these items is certain. If it frees several messages, the first takes the place of its
   * key, and the model does not know which one that is.
   */
  protected isSure(items: readonly Item[]): boolean {
    const waiting = this.model.of('READY', 'DELAYED', 'BLOCKED');
    return waiting.filter((one) => !items.includes(one) && items.some((item) => one.open.has(item))).length <= 1;
  }

  async #purge({ run: of }: Do<'purge'>): Promise<void> {
    const scopeId = of === undefined ? undefined : this.scopes[of];
    const waiting = this.model.of('READY', 'DELAYED', 'BLOCKED');
    const items = waiting.filter(({ scope }) => scopeId === undefined || scope === scopeId);
    if (!this.isSure(items)) return;
    await this.post(`${this.mailbox}/purge`, scopeId === undefined ? {} : { scopeId });
    this.model.cancelAll(items, this.now);
    await this.settle();
  }

  async #cancelRun({ run: of }: Do<'cancelRun'>): Promise<void> {
    const scopeId = this.scopes[of] as string;
    this.expect(await this.post(`/scopes/${scopeId}/cancel`), '200');
    this.model.cancelledScopes.add(scopeId);
    this.model.cancelAll(this.model.items.filter(({ scope }) => scope === scopeId).reverse(), this.now);
    await this.settle();
    const other = randomUUID();
    this.scopes[of] = other;
    await this.curl.post('/scopes', { scopeId: other });
  }

  async #setPerKey({ perKey }: Do<'perKey'>): Promise<void> {
    const { blocked } = { blocked: this.model.of('BLOCKED').length };
    await this.curl.call('PATCH', this.mailbox, { perKey });
    this.model.setPerKey(perKey, this.now);
    if (this.model.of('BLOCKED').length < blocked) met.add('freed by perKey');
  }

  async #pause({ do: what, run: of }: Do<'pause'> | Do<'resume'>): Promise<void> {
    const scopeId = of === undefined ? undefined : (this.scopes[of] as string);
    this.expect(await this.post(`${scopeId === undefined ? this.mailbox : `/scopes/${scopeId}`}/${what}`), '200');
    if (scopeId === undefined) this.model.isPaused = what === 'pause';
    else if (what === 'pause') this.model.pausedScopes.add(scopeId);
    else this.model.pausedScopes.delete(scopeId);
  }

  /** Lets everything happen that is due, including the work that a call leaves to the workers. */
  protected async settle(): Promise<void> {
    const { due } = this.world.service;
    await due.drain(this.world.org);
    await due.drain(this.world.org, '*');
  }

  /** Compares every message. Between two looks, only the due work that calls depend on is done. */
  async look(): Promise<void> {
    await this.settle();
    const { body } = await this.curl.get(`${this.mailbox}/messages?limit=200`);
    const shown = body.messages.map(({ id, state, attempts, blockedBy }: Record<string, unknown>) => ({
      ...{ id, state, attempts, blockedBy },
    }));
    expect(shown).to.deep.equal(this.model.items.map((item) => this.#view(item)));
  }

  /** The blocker of a BLOCKED item without open prerequisites. */
  protected blocker({ of: { key } }: Item): { kind: string; id: string | null } {
    return { kind: 'KEY', id: this.model.holderOf(key as string) };
  }

  #view(item: Item): object {
    const { id, state, attempts, open, of } = item;
    met.add(state);
    const blockers: { kind: string; id: string | null }[] = of.after
      .filter((one) => open.has(one))
      .map((one) => ({ kind: 'MESSAGE', id: one.id }));
    if (state === 'BLOCKED' && blockers.length === 0) blockers.push(this.blocker(item));
    const [first] = state === 'BLOCKED' ? blockers : [];
    if (first) met.add(`by ${first.kind}`);
    return { id, state, attempts, blockedBy: state === 'BLOCKED' ? blockers : [] };
  }
}
