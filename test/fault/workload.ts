import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Access } from '../support/processes.ts';
import type { Caller, Heard } from './caller.ts';
import type { Operation } from './history.ts';
import { type Maker, type Scene, scenes } from './scenes/all.ts';
import type { Clockwork } from './scenes/clockwork.ts';
import type { Planted } from './scenes/graph.ts';
import type { Sheet } from './scenes/notes.ts';
import type { StoppedRun } from './scenes/run.ts';
import { type Chance, chanceOf } from './seed.ts';

type Values = Operation['input'];

/** A call to make and to record. */
export interface Plan {
  readonly kind: string;
  /** The object it is about; for a new object, a function that takes it from the answer. */
  readonly object: string | ((body: Heard['body']) => string);
  readonly input?: Values;
  readonly path: string;
  /** undefined for a read. */
  readonly body: unknown;
  /** The method, if it is neither GET nor POST. */
  readonly method?: string;
  readonly read?: (body: Heard['body']) => Values;
  /** Codes of refusals that are expected here. */
  readonly refuses?: readonly string[];
}

/** One of the calls of a batch; `body` has its path parameters, too. */
export interface BatchedPlan extends Omit<Plan, 'path'> {
  readonly call: string;
  readonly body: object;
}

/** A mailbox and a scope, or `*`, that must be empty in the end. */
export interface Queue {
  readonly access: Access;
  readonly mailboxId: string;
  readonly scopeId: string;
  /** Messages in it may wait for rejected ones, which must then be requeued. */
  readonly mends?: true;
}

/** Concurrent clients of all primitives in several spaces, and the history that they saw. */
export class Workload {
  readonly history: Operation[] = [];
  /** Unexpected answers. */
  readonly unexpected: string[] = [];
  readonly queues: Queue[] = [];
  readonly runs: StoppedRun[] = [];
  readonly clockworks: Clockwork[] = [];
  /** The scopes whose notes are shared. */
  readonly sheets: Sheet[] = [];
  /** Claims that their client abandoned: `messageId attempt` to the end of the lease. */
  readonly abandoned = new Map<string, number>();
  /** Messages that wait for others, by their ids. */
  readonly planted = new Map<string, Planted>();
  /** The allowance that each attempt of a message consumes from, by the messages' ids. */
  readonly metered = new Map<string, string>();
  /** Messages with a key, worked one at a time per key, by their ids: their mailbox and key. */
  readonly keyed = new Map<string, string>();
  /** Messages without a delay or a key, by their ids: their run in their mailbox, and their priority. */
  readonly ordered = new Map<string, { readonly run: string; readonly priority: number }>();
  readonly caller: Caller;
  readonly spaces: readonly Access[];
  readonly chance: Chance;
  readonly #running: Promise<void>[] = [];
  #isOver = false;

  constructor(caller: Caller, spaces: readonly Access[], seed: number) {
    this.caller = caller;
    this.spaces = spaces;
    this.chance = chanceOf(seed);
  }

  start(clients = 16, makers: readonly Maker[] = scenes): void {
    const all = this.spaces.flatMap((access) => makers.map((make) => make(this, access)));
    for (let client = 0; client < clients; client++)
      this.#running.push(
        this.#run(client, all)
          .catch((error) => this.unexpected.push(String(error)))
          .then(() => undefined),
      );
  }

  async #run(client: number, all: readonly Scene[]): Promise<void> {
    while (!this.#isOver) await this.chance.of(all).turn(client);
  }

  /** Lets every client end what it has begun. */
  async finish(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  /**
   * Receives and completes what is left, until nothing is ready and nothing is claimed. askedBy: leaves later questions open, as
   * another workload asks them.
   */
  async drain(askedBy = Number.POSITIVE_INFINITY): Promise<void> {
    for (const access of this.spaces) await this.#answerAll(access, askedBy);
    // The child as well: a store that lost its parent knows it as a run of its own.
    for (const { access, scopeId } of this.clockworks) await this.#stop(access, scopeId);
    for (const { access, scopeId, childId } of this.runs)
      for (const id of [scopeId, childId]) await this.#stop(access, id);
    const lanes = Array.from({ length: 8 }, async (_, lane) => {
      for (const queue of this.queues.filter((_one, i) => i % 8 === lane)) await this.#drainQueue(queue);
    });
    await Promise.all(lanes);
  }

  /** Answers all open questions that were asked by then. */
  async #answerAll(access: Access, askedBy: number): Promise<void> {
    for (;;) {
      const { body } = await this.caller.insist(access, '/questions?state=OPEN&limit=200', randomUUID());
      const asked: { id: string; createdAt: string }[] = body.questions ?? [];
      const own = asked.filter(({ createdAt }) => Date.parse(createdAt) <= askedBy);
      if (own.length === 0) return;
      for (const { id } of own) await this.answer(-1, access, id);
    }
  }

  async #stop(access: Access, id: string): Promise<void> {
    const stop = { kind: 'stop', object: `run ${id}`, path: `/scopes/${id}/cancel`, refuses: ['SCOPE_NOT_FOUND'] };
    await this.call(-1, access, { ...stop, body: {} });
  }

  async #drainQueue(queue: Queue): Promise<void> {
    for (;;) {
      const claim = await this.claim(-1, queue);
      if (claim) await this.complete(-1, queue.access, claim);
      else {
        const below = queue.scopeId === '*' ? '' : `&scopeId=${queue.scopeId}`;
        const { body } = await this.caller.insist(
          queue.access,
          `/mailboxes/${queue.mailboxId}/messages?state=READY,DELAYED,BLOCKED,CLAIMED${below}`,
          randomUUID(),
        );
        if (!body.messages?.length) return;
        const isStuck = body.messages.every(({ state }: { state: string }) => state === 'BLOCKED');
        if (queue.mends && isStuck) await this.#mend(queue);
        await sleep(100);
      }
    }
  }

  /** Requeues rejected and cancelled messages, which others wait for. */
  async #mend({ access, mailboxId }: Queue): Promise<void> {
    for (const state of ['REJECTED', 'CANCELLED'])
      await this.call(-1, access, {
        ...{ kind: 'requeue some', object: `mailbox ${mailboxId}`, input: { max: 100, from: state } },
        ...{ path: `/mailboxes/${mailboxId}/requeue`, body: { state } },
        read: ({ requeued }) => ({ count: requeued }),
      });
  }

  /** Makes a call, with one Idempotency-Key until it is answered. */
  async call(client: number, access: Access, plan: Plan): Promise<Heard> {
    const id = randomUUID();
    const invokedAt = performance.now();
    const heard = await this.caller.insist(access, plan.path, id, plan.body, plan.method);
    this.#record(id, client, plan, invokedAt, heard);
    return heard;
  }

  /**
   * Makes one attempt of a call that may succeed after a refusal, so that a second attempt would say nothing about the
   * first. undefined if the outcome is unknown.
   */
  async callOnce(client: number, access: Access, plan: Plan): Promise<Heard | undefined> {
    const id = randomUUID();
    const invokedAt = performance.now();
    const heard = await this.caller.attempt(access, plan.path, id, plan.body);
    if (heard === 'unmet') return undefined;
    this.#record(id, client, plan, invokedAt, heard);
    return heard ?? undefined;
  }

  /** Makes several calls in one request, which is repeated until each of them is answered. */
  async batch(client: number, access: Access, plans: readonly BatchedPlan[]): Promise<void> {
    const id = randomUUID();
    const invokedAt = performance.now();
    const calls = plans.map(({ call, body }) => ({ call, ...body }));
    for (;;) {
      const { status, body } = await this.caller.insist(access, '/batch', id, { calls });
      if (status !== 200) {
        this.unexpected.push(`batch: ${status} ${body?.error?.code}`);
        return;
      }
      const results: readonly Heard[] = body.results;
      if (results.some((one) => one.status === 503)) await sleep(100);
      else {
        for (const [i, plan] of plans.entries()) this.#record(id, client, plan, invokedAt, results[i] ?? null);
        return;
      }
    }
  }

  /**
   * Makes several calls as an atomic batch, with one Idempotency-Key until it is answered. Returns the bodies of the
   * answers; undefined if it was refused.
   */
  async atomic(client: number, access: Access, plans: readonly BatchedPlan[]): Promise<Heard['body'][] | undefined> {
    const id = randomUUID();
    const invokedAt = performance.now();
    const calls = plans.map(({ call, body }) => ({ call, ...body }));
    const heard = await this.caller.insist(access, '/batch', id, { atomic: true, calls });
    const { status, body } = heard;
    const refusedAt: number | undefined = body?.error?.index;
    const refuses = refusedAt === undefined ? [] : (plans[refusedAt]?.refuses ?? []);
    for (const [place, plan] of plans.entries()) {
      const result: Heard = status === 200 ? body.results[place] : heard;
      // A replay does not read again.
      const answered = result.body === null ? null : result;
      this.#record(id, client, { ...plan, refuses }, invokedAt, answered, { place, refusedAt });
    }
    return status === 200 ? body.results.map((result: Heard) => result.body) : undefined;
  }

  /**
   * Receives once, because a receive has no Idempotency-Key. undefined if the outcome is unknown or nothing was ready.
   */
  async claim(client: number, queue: Queue): Promise<Heard['body'] | undefined> {
    return (await this.#receive(client, queue, {}, ({ body }) => [body]))[0];
  }

  /** Receives several at once. */
  claimSome(client: number, queue: Queue, max: number): Promise<Heard['body'][]> {
    return this.#receive(client, queue, { max }, ({ body }) => body.messages);
  }

  async #receive(
    client: number,
    { access, mailboxId, scopeId }: Queue,
    more: Readonly<Record<string, number>>,
    claimsOf: (heard: Heard) => Heard['body'][],
  ): Promise<Heard['body'][]> {
    const id = randomUUID();
    const plan: Plan = {
      kind: 'claim',
      object: (body) => `message ${body.id}`,
      input: { leaseSeconds: 5, ...more },
      path: `/mailboxes/${mailboxId}/recv`,
      body: { scopeId, holder: `client-${client}`, holderSession: 's', leaseSeconds: 5, ...more },
      read: ({ token, attempt }) => ({ token, attempt }),
    };
    const invokedAt = performance.now();
    const heard = await this.caller.attempt(access, plan.path, id, plan.body);
    if (heard !== 'unmet') {
      if (heard?.status === 204) return [];
      if (heard?.status === 200) {
        const claims = claimsOf(heard);
        for (const body of claims) this.#record(id, client, plan, invokedAt, { status: 200, body });
        return claims;
      }
      this.#record(id, client, plan, invokedAt, heard);
    }
    await sleep(100);
    return [];
  }

  complete(
    client: number,
    access: Access,
    { id, token }: { id: string; token: string },
    refuses: readonly string[] = ['CLAIM_LOST'],
  ): Promise<Heard> {
    return this.call(client, access, {
      kind: 'complete',
      object: `message ${id}`,
      input: { token },
      path: `/messages/${id}/complete`,
      body: { token, result: { payload: client } },
      refuses,
    });
  }

  /** Answers a question; every answer is different. */
  answer(client: number, access: Access, questionId: string): Promise<Heard> {
    const answer = randomUUID();
    return this.call(client, access, {
      kind: 'answer',
      object: `question ${questionId}`,
      input: { answer },
      path: `/questions/${questionId}/answer`,
      body: { answer, answeredBy: `client-${client}` },
      refuses: ['QUESTION_CLOSED'],
    });
  }

  /** Records that a receive has shown a question in its state at some moment since `invokedAt`. */
  saw(client: number, { id, state, answer }: Heard['body'], invokedAt: number): void {
    const times = { invokedAt, respondedAt: performance.now() };
    const value = { state, answer: answer ?? '' };
    this.history.push({
      ...{
        id: randomUUID(),
        client,
        kind: 'look',
        object: `question ${id}`,
        input: {},
        ...times,
        outcome: 'ok',
        value,
      },
    });
  }

  #record(
    id: string,
    client: number,
    plan: Omit<Plan, 'path'>,
    invokedAt: number,
    heard: Heard | null,
    { place, refusedAt }: { readonly place?: number; readonly refusedAt?: number | undefined } = {},
  ): void {
    const { kind, object, input = {}, read = () => ({}), refuses = [] } = plan;
    const isOk = heard !== null && heard.status < 300 && heard.body?.error === undefined;
    const code: string = heard?.body?.error?.code ?? '';
    if (heard && !isOk && !refuses.includes(code)) {
      this.unexpected.push(`${kind}: ${heard.status} ${code} ${heard.body?.error?.message}`);
      return;
    }
    this.history.push({
      id,
      client,
      kind,
      object: typeof object === 'string' ? object : isOk ? object(heard.body) : '',
      input,
      invokedAt,
      respondedAt: heard ? performance.now() : Number.POSITIVE_INFINITY,
      outcome: heard ? (isOk ? 'ok' : 'refused') : 'unknown',
      value: isOk ? read(heard.body) : { code },
      ...(place !== undefined && { place }),
      ...(refusedAt !== undefined && { refusedAt }),
    });
  }
}
