import { jsonOf } from '../json.ts';
import { createMuster } from '../muster.ts';
import type { SuspendOptions } from '../worker/suspending.ts';
import type { TaskContext, WorkerMessage } from '../worker/task.ts';
import { Worker } from '../worker/worker.ts';
import { TestClock } from './clock.ts';
import { testMessage } from './message.ts';
import { Recorder, type TestAnswers, type TestCall, type TestFields, type Told } from './recorder.ts';

export interface TestTaskOptions {
  /** The clock for the task's times. Moving it past the deadline loses the claim. */
  readonly clock?: TestClock;
  /**
   * Answers to calls, by name: `{ 'budget.reserve': () => { throw new MusterError('INSUFFICIENT_BUDGET', 'too little'); } }`.
   * Without them, every budget and every quota has enough.
   */
  readonly answers?: TestAnswers;
  /** The results of its prerequisites, as `task.results()` returns them. */
  readonly results?: readonly unknown[];
  /** The notes of its run, by key. */
  readonly notes?: Readonly<Record<string, unknown>>;
}

/** What has become of the things that a suspended message waits for. */
export interface TestWake {
  /** The results of joined messages, in order. */
  readonly results?: readonly unknown[];
  /** Their final states, in order; ACKED by default. */
  readonly states?: readonly ('ACKED' | 'REJECTED' | 'FAILED' | 'EXPIRED' | 'CANCELLED')[];
  /** TIMEOUT if the suspension's timeoutSeconds have passed. */
  readonly by?: 'CONDITION' | 'TIMEOUT';
}

/** The outcome of an attempt. */
export interface TestEnd<Result = unknown> {
  /** The message's state, or LOST if the claim ended before the handler did. */
  readonly state: Told['state'] | 'LOST';
  /** The handler's return value as the service would store it; null unless ACKED. */
  readonly result: Result | null;
  /** The reason stored with the message; null if there is none. */
  readonly error: string | null;
  /** The error that the handler threw, if any. */
  readonly thrown: unknown;
  /** The pause before the next attempt. */
  readonly delaySeconds: number;
  /** The question asked; null if there is none. */
  readonly question: unknown;
  /** What the message waits for, with `suspend`, `sleep` or `join`; null if it is not suspended. */
  readonly suspension: TestFields | null;
  /** The calls that `task.finish` has made together with the completion, in order. */
  readonly plan: readonly TestCall[];
}

/** The type of a JSON value that a test writes as a literal. */
type Json<T> = T extends object ? { -readonly [K in keyof T]: Json<T[K]> } : T;

/**
 * A handler for a payload of this type. The type of its results is inferred from what it returns, so that of its message must
 * not depend on it.
 */
type TestedHandler<Payload, Result, Out> = (
  message: WorkerMessage<Json<Payload>, unknown extends Result ? never : Result>,
  context: TaskContext,
) => Promise<Out> | Out;

const finalStates = ['ACKED', 'REJECTED', 'FAILED'];
type AwaitedState = NonNullable<WorkerMessage['suspension']>['after'][number]['state'] & string;

/** A month, the longest suspension. */
const maxSuspendSeconds = 2_592_000;

/**
 * A claimed message for the unit test of a handler, without a server. The real worker runs the handler. Its calls are
 * recorded, and get the answers that the test gives or plain ones: the rules of the service are those of `testServer`.
 *
 * ```ts
 * const task = new TestTask({ file: 'a.txt' });
 * const end = await task.run(handler); // { state: 'DELAYED', delaySeconds: 30, error: 'the disk is busy', … }
 * await task.run(handler); // the next attempt, once the delay is over by the task's clock
 * ```
 */
export class TestTask<const Payload = unknown, Result = unknown> {
  readonly clock: TestClock;
  /** The handler's log entries. */
  readonly logs: { readonly text: string; readonly data: unknown }[] = [];
  readonly #recorder: Recorder;
  #state: TestEnd['state'] | 'CLAIMED' = 'READY';
  #lost: () => void = () => undefined;
  #runs = 0;

  constructor(
    payload: Payload,
    {
      clock = new TestClock(),
      answers = {},
      results = [],
      notes = {},
      ...fields
    }: TestTaskOptions & Partial<Omit<WorkerMessage<Payload, Result>, 'payload'>> = {},
  ) {
    this.clock = clock;
    const earlier = new Map(results.map((result) => [crypto.randomUUID() as string, result]));
    const after = [...earlier.keys()].map((messageId) => ({ messageId, groupId: null, state: 'ACKED' as const }));
    const message = testMessage<unknown, unknown>(payload, { after, ...fields } as Partial<WorkerMessage>, clock);
    // The first run increments it to the attempt given.
    this.#recorder = new Recorder({ ...message, attempts: message.attempt - 1 }, clock, answers, earlier);
    for (const [key, value] of Object.entries(notes)) this.#recorder.put(key, value);
  }

  /** The message in its current state, which the next attempt receives. */
  get message(): WorkerMessage<Json<Payload>, Result> {
    return this.#recorder.message as WorkerMessage<Json<Payload>, Result>;
  }

  /**
   * The calls that the handler has made in all attempts, through its context and `task.muster`: sends, holds, notes, steps,
   * money, units, results and the plan of `finish`.
   */
  get calls(): readonly TestCall[] {
    return this.#recorder.calls;
  }

  /** The messages that the handler has sent in all attempts, with the plan of `finish`. A mailbox has its name as its id. */
  get sent(): readonly TestFields[] {
    return this.calls.flatMap(({ call, fields }) => (call === 'message.send' ? [fields] : []));
  }

  /** The values of the run's notes, by key. */
  get notes(): Readonly<Record<string, unknown>> {
    return Object.fromEntries([...this.#recorder.notes].map(([key, note]) => [key, note.value]));
  }

  /** The money that was settled, in minor units, by budget. */
  get spent(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.#recorder.spent].map(([name, sum]) => [name, String(sum)]));
  }

  /** The units taken, by allowance. */
  get units(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#recorder.units);
  }

  /** Answers the handler's question. The next attempt begins with the answer. */
  answer(value: unknown, answeredBy = 'somebody'): void {
    const { message } = this.#recorder;
    if (message.question?.state !== 'OPEN') throw new Error('the handler has asked nothing');
    const given = { answer: value, answeredBy, answeredVia: 'API', answeredAt: this.clock.in(0) };
    this.#close({ state: 'ANSWERED', ...given });
  }

  /**
   * Lets a suspended message continue: `task.wake({ results: [1, 2] })` with the results of the messages that it has joined, in
   * order. states: how they ended; by default all are ACKED. by: TIMEOUT if what it waits for has not ended in time.
   */
  wake({ results = [], states = [], by = 'CONDITION' }: TestWake = {}): void {
    const { message } = this.#recorder;
    const { suspension } = message;
    if (suspension?.wokenBy !== null) throw new Error('the handler has not suspended its message');
    const after = suspension.after.map((one, i) => {
      // What has not ended in time stays as it is.
      const state: AwaitedState = states[i] ?? (by === 'TIMEOUT' && results.length === 0 ? 'READY' : 'ACKED');
      if (one.messageId !== null) this.#recorder.finish(one.messageId, state, results[i] ?? null);
      return { ...one, state };
    });
    this.#recorder.message = { ...message, suspension: { ...suspension, after, wokenBy: by } };
  }

  /** Loses the claim during a run, as when a message is cancelled. Resolves when the handler's signal has aborted. */
  async lose(): Promise<void> {
    if (this.#state !== 'CLAIMED') throw new Error('no handler is running: call lose() during a run');
    const told = new Promise<void>((resolve) => {
      this.#lost = resolve;
    });
    this.#recorder.lose();
    await told;
  }

  /** Makes the next attempt: runs the handler in a worker. Resolves with the outcome. */
  async run<Out extends Result>(handler: TestedHandler<Payload, Result, Out>): Promise<TestEnd<Out>> {
    this.#ready();
    const { message } = this.#recorder;
    const attempt = message.attempts + 1;
    // Attempts differ in their claimedAt, even if the clock stands still.
    const claimedAt = this.clock.in(this.#runs++ / 1000);
    const moments = { claimedAt, leaseExpiresAt: this.clock.in(message.leaseSeconds) };
    const claim = { state: 'CLAIMED' as const, attempt, attempts: attempt, readyAt: null, token: crypto.randomUUID() };
    this.#recorder.message = { ...message, ...moments, ...claim };
    this.#recorder.offer();
    this.#state = 'CLAIMED';
    try {
      const end = await this.#attempt(handler);
      this.#state = end.state;
      return end;
    } catch (error) {
      this.#state = 'READY';
      throw error;
    }
  }

  async #attempt<Out extends Result>(handler: TestedHandler<Payload, Result, Out>): Promise<TestEnd<Out>> {
    const options = {
      url: 'http://muster.test',
      key: 'test',
      spaceId: crypto.randomUUID(),
      fetch: this.#recorder.fetch,
    };
    const muster = createMuster({ ...options, attempts: 1 });
    const mailbox = { mailboxId: this.#recorder.message.mailboxId };
    let result: Out | undefined;
    let thrown: unknown;
    let done: () => void = () => undefined;
    const hasRun = new Promise<void>((resolve) => {
      done = resolve;
    });
    const worker = new Worker<Json<Payload>, Out>(
      muster,
      { mailbox, batch: false, closeOnSignals: false, holder: 'test' },
      async (message, context) => {
        try {
          result = await handler(message as Parameters<typeof handler>[0], context);
          return result;
        } catch (error) {
          thrown = error;
          throw error;
        } finally {
          done();
        }
      },
    );
    const stopWatching = this.clock.onMove(() => this.#expire());
    worker.on('log', ({ text, data }) => void this.logs.push({ text, data }));
    try {
      const isLost = await new Promise<boolean>((resolve, reject) => {
        worker.on('completed', () => resolve(false));
        worker.on('failed', () => resolve(false));
        worker.on('asked', () => resolve(false));
        worker.on('suspended', () => resolve(false));
        worker.on('lost', () => {
          this.#lost();
          resolve(true);
        });
        worker.on('error', ({ error }) => reject(error));
      });
      if (isLost) await hasRun;
      const [failure] = this.#recorder.failures.splice(0);
      if (failure) throw failure;
      return this.#endOf(isLost, result, thrown);
    } finally {
      stopWatching();
      await worker.close(0);
    }
  }

  #endOf<Out>(isLost: boolean, result: Out | undefined, thrown: unknown): TestEnd<Out> {
    const { told, message } = this.#recorder;
    const none = { result: null, error: null, thrown, delaySeconds: 0, question: null, suspension: null, plan: [] };
    if (isLost || !told) return { ...none, state: 'LOST' };
    const { state, error, delaySeconds } = told;
    if (state === 'ACKED')
      return { ...none, state, plan: told.plan, result: JSON.parse(jsonOf(result ?? null) ?? 'null') as Out };
    if (told.suspension) {
      this.#recorder.message = { ...message, suspension: this.#begun(told.suspension) };
      return { ...none, state, suspension: told.suspension };
    }
    if (state === 'BLOCKED') return { ...none, state, question: message.question?.question };
    if (state === 'DELAYED') this.#recorder.message = { ...message, readyAt: this.clock.in(delaySeconds) };
    return { ...none, state, error, delaySeconds };
  }

  /** Refuses a message that could not be received. Skips the delay of a DELAYED one. */
  #ready(): void {
    const { message } = this.#recorder;
    if (this.#state === 'CLAIMED') throw new Error('a run is in progress: wait for it to end');
    if (finalStates.includes(this.#state))
      throw new Error(`it is ${this.#state}: a message that has ended is not run again`);
    if (message.readyAt !== null)
      this.clock.advance(Math.max(0, (Date.parse(message.readyAt) - this.clock.now.getTime()) / 1000));
    this.#awake();
    if (message.question?.state === 'OPEN' && message.question.expiresAt && this.#hasPassed(message.question.expiresAt))
      this.#close({ state: 'EXPIRED' });
    if (this.#recorder.message.question?.state === 'OPEN')
      throw new Error('it waits for an answer: call answer(…), or move the clock past its expiry');
  }

  /** A suspension as the message shows it. */
  #begun(fields: TestFields): NonNullable<WorkerMessage['suspension']> {
    const { after = [], note, delaySeconds, timeoutSeconds, any = false } = fields as SuspendOptions;
    const { scopeId } = this.#recorder.message;
    return {
      since: this.clock.in(0),
      after: (after as readonly object[]).map((one) => ({
        ...{ messageId: null, groupId: null, scopeId: null, state: null },
        ...one,
      })),
      note: note ? { scopeId, ...note } : null,
      until: typeof delaySeconds === 'number' ? this.clock.in(delaySeconds) : null,
      timeoutAt: this.clock.in(timeoutSeconds ?? maxSuspendSeconds),
      any,
      wokenBy: null,
    } as NonNullable<WorkerMessage['suspension']>;
  }

  /** Ends a sleep, whose time is skipped, or a suspension whose time is up. */
  #awake(): void {
    const { suspension } = this.#recorder.message;
    if (suspension?.wokenBy !== null) return;
    const { after, note, until, timeoutAt } = suspension;
    if (until !== null && after.length === 0 && note === null) {
      this.clock.advance(Math.max(0, (Date.parse(until) - this.clock.now.getTime()) / 1000));
      this.wake();
    } else if (this.#hasPassed(timeoutAt)) this.wake({ by: 'TIMEOUT' });
    else throw new Error('it is suspended: call wake(…)');
  }

  #close(fields: object): void {
    const { message } = this.#recorder;
    this.#recorder.message = { ...message, question: { ...message.question, ...fields } as WorkerMessage['question'] };
  }

  #hasPassed(moment: string): boolean {
    return Date.parse(moment) <= this.clock.now.getTime();
  }

  #expire(): void {
    const { deadline } = this.#recorder.message;
    if (deadline !== null && this.#hasPassed(deadline) && this.#state === 'CLAIMED') this.#recorder.lose();
  }
}
