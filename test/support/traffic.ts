import { randomUUID } from 'node:crypto';
import type { World } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: as in Reply.
type Body = any;

/** Light traffic that leaves records of every kind, finished and unfinished. */
export class Traffic {
  readonly #world: World;
  readonly work: string;
  readonly inbox: string;
  readonly #budget: string;
  readonly #allowance: string;
  readonly scopes: string[] = [];
  #later: Promise<string> | undefined;

  private constructor(world: World, work: string, inbox: string, budget: string, allowance: string) {
    this.#world = world;
    this.work = work;
    this.inbox = inbox;
    this.#budget = budget;
    this.#allowance = allowance;
  }

  static async on(world: World): Promise<Traffic> {
    const work = await world.mustPost('/mailboxes', { name: 'jobs' });
    const inbox = await world.mustPost('/mailboxes', { name: 'notes', mode: 'INBOX' });
    const budget = await world.mustPost('/budgets', { name: 'b', currency: 'EUR', scale: 2, limitMinor: '999999999' });
    const allowance = await world.mustPost('/allowances', { name: 'a', unitsLimit: 10, windowSeconds: 600 });
    return new Traffic(world, work.id, inbox.id, budget.id, allowance.id);
  }

  /** A new scope for each call. */
  scope(): string {
    const scopeId = randomUUID();
    this.scopes.push(scopeId);
    return scopeId;
  }

  send(scopeId: string, more: object = {}, mailboxId = this.work): Promise<Body> {
    return this.#world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: { text: 'do this' }, ...more });
  }

  note(scopeId: string): Promise<Body> {
    return this.send(scopeId, {}, this.inbox);
  }

  async claim(scopeId: string, mailboxId = this.work): Promise<Body> {
    const body = { scopeId, holder: 'agent', holderSession: 's', leaseSeconds: 60 };
    return this.#world.mustPost(`/mailboxes/${mailboxId}/recv`, body);
  }

  async complete(claim: Body, result?: object): Promise<void> {
    await this.#world.mustPost(`/messages/${claim.id}/complete`, { token: claim.token, ...(result && { result }) });
  }

  async nack(claim: Body, retry: boolean): Promise<void> {
    await this.#world.mustPost(`/messages/${claim.id}/nack`, { token: claim.token, retry });
  }

  /** Messages in each final state except CANCELLED; one stays READY until `deadline`. */
  async messages(deadline: string): Promise<void> {
    const scopeId = this.scope();
    await this.send(scopeId, { workKey: scopeId });
    await this.send(scopeId);
    await this.note(scopeId);
    await this.complete(await this.claim(scopeId), { payload: 'done' });
    await this.nack(await this.claim(scopeId), false);
    await this.complete(await this.claim(scopeId, this.inbox));
    await this.send(scopeId, { deadline });
  }

  /** A group decided by its first accept: the other member is cancelled. */
  async group(): Promise<void> {
    const group = await this.#world.mustPost('/task-groups', {
      parentScopeId: this.scope(),
      mailboxId: this.work,
      condition: 'FIRST_ACCEPTED',
    });
    for (const taskKey of ['x', 'y'])
      await this.#world.mustPost(`/task-groups/${group.id}/tasks`, { taskKey, input: 1 });
    const claim = await this.claim(group.scopeId);
    await this.complete(claim, { payload: [1] });
    await this.#world.mustPost(`/task-groups/${group.id}/tasks/${claim.taskId}/accept`);
  }

  /** In a separate mailbox: completes messages that became ready again, and leaves one that was nacked with a delay. */
  async later(): Promise<void> {
    this.#later ??= this.#world.mustPost('/mailboxes', { name: 'later' }).then(({ id }) => id);
    const mailboxId = await this.#later;
    const path = `/mailboxes/${mailboxId}`;
    const all = { scopeId: '*', holder: 'agent', holderSession: 's', max: 10 };
    const ready = await this.#world.post(`${path}/recv`, all);
    for (const claim of ready.status === 200 ? ready.body.messages : []) await this.complete(claim);
    const scopeId = this.scope();
    await this.send(scopeId, { maxAttempts: 3 }, mailboxId);
    const { id, token } = await this.claim(scopeId, mailboxId);
    await this.#world.mustPost(`/messages/${id}/renew`, { token, progress: { page: 7 } });
    await this.#world.mustPost(`/messages/${id}/nack`, { token, retry: true, delaySeconds: 60, error: 'not yet' });
    const other = this.scope();
    const { id: ended } = await this.send(other, { delaySeconds: 60 }, mailboxId);
    await this.#world.mustPost(`/messages/${ended}/cancel`);
    await this.#world.mustPost(`/messages/${ended}/requeue`);
    await this.#world.mustPost(`${path}/purge`, { scopeId: other });
  }

  /** A run cancelled with a message and a barrier in it, and a scope that is never used. */
  async stopped(): Promise<void> {
    await this.#world.mustPost('/scopes', { name: 'unused' });
    const { id: scopeId } = await this.#world.mustPost('/scopes', { name: 'stopped' });
    await this.send(scopeId, { delaySeconds: 600 });
    await this.#world.mustPost('/barriers', { scopeId, target: 2 });
    await this.#world.mustPost(`/scopes/${scopeId}/cancel`);
  }

  async barrier(): Promise<void> {
    const barrier = await this.#world.mustPost('/barriers', { scopeId: this.scope(), target: 1 });
    await this.#world.mustPost(`/barriers/${barrier.id}/arrive`, { arrivalKey: 'a' });
  }

  /** A reservation that is partly settled and then voided before its settleBy. */
  async reservation(settleBy: string): Promise<void> {
    const path = `/budgets/${this.#budget}`;
    const scopeId = this.scope();
    const { id: reservationId } = await this.#world.mustPost(`${path}/reserve`, {
      scopeId,
      holder: 'h',
      amountMinor: '9',
      settleBy,
    });
    const workKey = reservationId;
    await this.#world.mustPost(`${path}/settle`, { reservationId, workKey, amountMinor: '4' });
    await this.#world.mustPost(`${path}/void`, { reservationId, workKey });
  }

  /** In separate pools: holds that are HELD, released, cancelled and WAITING; a pool that is deleted. */
  async holds(): Promise<void> {
    const scopeId = this.scope();
    const make = () => this.#world.mustPost('/pools', { name: `pool-${randomUUID()}`, units: 1 });
    const [pool, other] = [await make(), await make()];
    const acquire = () =>
      this.#world.mustPost(`/pools/${pool.id}/acquire`, {
        ...{ scopeId, holder: 'h', holderSession: randomUUID(), leaseSeconds: 60, ttlSeconds: 60 },
      });
    const [first, , third] = [await acquire(), await acquire(), await acquire()];
    await this.#world.mustPost(`/pool-holds/${third.id}/cancel`);
    await this.#world.mustPost(`/pool-holds/${first.id}/release`, { token: first.token });
    await acquire();
    await this.#world.call('PATCH', `/pools/${other.id}`, { units: 2 });
    await this.#world.call('DELETE', `/pools/${other.id}`);
  }

  /** Questions of messages that are answered, withdrawn and OPEN; without a message, one answered and one that expires. */
  async questions(): Promise<void> {
    const answer = (id: string) => this.#world.mustPost(`/questions/${id}/answer`, { answer: true, answeredBy: 'ann' });
    const asked = async () => {
      const scopeId = this.scope();
      await this.send(scopeId);
      const { id, token } = await this.claim(scopeId);
      return this.#world.mustPost(`/messages/${id}/ask`, {
        token,
        question: { text: 'Publish?' },
        expiresInSeconds: 60,
      });
    };
    const [first, second] = [await asked(), await asked(), await asked()];
    await answer(first.question.id);
    await this.#world.mustPost(`/messages/${second.id}/cancel`);
    const scopeId = this.scope();
    const alone = () => this.#world.mustPost('/questions', { scopeId, question: 1, expiresInSeconds: 60 });
    await answer((await alone()).id);
    await alone();
  }

  /** A consumption, a grant, a cancelled waiter and an expiring one. */
  async units(): Promise<void> {
    const path = `/allowances/${this.#allowance}`;
    const scopeId = this.scope();
    const wait = (units: number) =>
      this.#world.mustPost(`${path}/wait`, { scopeId, holder: 'h', units, ttlSeconds: 60 });
    await this.#world.mustPost(`${path}/consume`, { scopeId, holder: 'h', units: 2, workKey: scopeId });
    await wait(1);
    await wait(10);
    const { waiterId } = await wait(1);
    await this.#world.mustPost(`/allowance-waiters/${waiterId}/cancel`);
  }
}
