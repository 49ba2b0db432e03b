import { isRefusal, MusterError } from '../error.ts';
import { warnOfDrift } from '../ids.ts';
import { isPassing } from '../journal.ts';
import type { Muster } from '../muster.ts';
import { backoffMs, maxTimerMs, pause } from '../send.ts';
import { untraced } from '../tracing.ts';
import type { CallOptions } from '../types.ts';
import { untilOver } from '../waits.ts';
import type { Asking } from './asking.ts';
import { Emitter } from './emitter.ts';
import { Ends } from './ends.ts';
import { ClaimLost, isLost, WorkerClosed } from './errors.ts';
import { Leases } from './leases.ts';
import type { Handler, WorkerCounts, WorkerEvents, WorkerOptions } from './options.ts';
import { Outage } from './outage.ts';
import { Outbox } from './outbox.ts';
import { Starts } from './rate.ts';
import { closeOnSignals, defaultHolder } from './signals.ts';
import { isSuspect, maxLeasesAlone, Untried } from './suspects.ts';
import type { Suspending } from './suspending.ts';
import { Task, type WorkerMessage } from './task.ts';

const lingerMs = 25;
const maxPauseMs = 5_000;
/** The pause if a server answers held receives at once, for example because it is stopping. */
const emptyPauseMs = 500;
/** The pause before a held receive is ended again, doubled each time: the last call may have come before the receive. */
const leaveAgainMs = 25;
/**
 * With a server that cannot end held receives: one that finds messages at once is answered within this time. If it were cut
 * earlier, its messages would stay claimed until their leases end.
 */
const answerMs = 500;
/** How long returning messages may take after the deadline of `close`. */
const returnMs = 5_000;

/** What a handler has returned or thrown. */
type Done<Result> = { readonly result: Result } | { readonly error: unknown };

/**
 * Works on the messages of a mailbox: receives them, keeps their claims, completes them with the handler's result, and gives
 * them back when the handler throws. It starts at once.
 *
 * ```ts
 * new Worker(muster, { mailbox: 'jobs', concurrency: 10 }, async (message, { signal }) =>
 *   summarize(message.payload, signal),
 * );
 * ```
 */
export class Worker<Payload = unknown, Result = unknown> {
  /** The id of the mailbox, once it is found or created. */
  readonly mailboxId: Promise<string>;
  /**
   * Resolves when the worker has stopped. Rejects if it could not go on: its key, its mailbox or its options were refused.
   */
  readonly closed: Promise<void>;
  readonly #muster: Muster;
  readonly #options: WorkerOptions;
  readonly #handler: Handler<Payload, Result>;
  readonly #holder: string;
  readonly #concurrency: number;
  readonly #starts: Starts | undefined;
  readonly #emitter = new Emitter<WorkerEvents<Payload, Result>>();
  /** Claims that have not ended. */
  readonly #tasks = new Set<Task<Payload, Result>>();
  readonly #works = new Set<Promise<void>>();
  readonly #leases: Leases;
  readonly #ends: Ends;
  readonly #outbox: Outbox | undefined;
  readonly #outage: Outage;
  /** Stops receiving. */
  readonly #stop = new AbortController();
  readonly #stopped = new Promise<void>((resolve) => {
    this.#stop.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  /** Stops watching, which goes on as long as there are tasks. */
  readonly #over = new AbortController();
  /** Cuts a receive held at the server, if it cannot be ended otherwise. */
  readonly #cut = new AbortController();
  /** The receive held at the server. */
  #held: { readonly mailboxId: string; readonly holderSession: string; readonly sinceMs: number } | undefined;
  readonly #counts = { received: 0, completed: 0, asked: 0, suspended: 0, returned: 0, failed: 0, lost: 0 };
  readonly #receiving: Promise<void>;
  #running = 0;
  #released: () => void = () => undefined;
  #closing: Promise<void> | undefined;
  #fatal: unknown;
  #settle: () => void = () => undefined;

  constructor(muster: Muster, options: WorkerOptions, handler: Handler<Payload, Result>) {
    const { concurrency = 1, leaseSeconds = 30, holder = defaultHolder(), batch = true, mailbox, rate } = options;
    if (!Number.isSafeInteger(concurrency) || concurrency < 1) throw new RangeError('concurrency must be at least 1');
    this.#muster = muster;
    this.#options = options;
    this.#handler = handler;
    this.#holder = holder;
    this.#concurrency = concurrency;
    this.#starts = rate && new Starts(rate);
    this.#outage = new Outage(holder);
    const timeoutMs = Math.floor((leaseSeconds * 1000) / 3);
    this.#outbox = batch ? new Outbox(muster, timeoutMs, () => Math.ceil(this.#tasks.size / 4)) : undefined;
    this.#ends = new Ends(muster, this.#outbox, timeoutMs);
    this.#leases = new Leases(
      (task, progress) => untraced(() => this.#ends.renew(task, progress)),
      (task, reason) => this.#lose(task as Task<Payload, Result>, reason),
    );
    this.closed = new Promise((resolve, reject) => {
      this.#settle = () => (this.#fatal === undefined ? resolve() : reject(this.#fatal));
    });
    // The error event reports it as well.
    this.closed.catch(() => undefined);
    if (options.closeOnSignals !== false) {
      const leave = closeOnSignals(() => this.close());
      this.closed.finally(leave).catch(() => undefined);
    }
    this.mailboxId = untraced(() => this.#find(mailbox));
    this.#receiving = untraced(() => this.#run()).catch((error) => this.#fail(error));
    void untraced(() => this.#watch());
  }

  /** Adds a listener for an event. The returned function removes it. */
  on<Name extends keyof WorkerEvents>(
    name: Name,
    listener: (event: WorkerEvents<Payload, Result>[Name]) => void,
  ): () => void {
    return this.#emitter.on(name, listener);
  }

  get counts(): WorkerCounts {
    return { ...this.#counts, active: this.#running };
  }

  /**
   * Resolves when no worker has anything left to do in the mailbox: nothing is READY, DELAYED or CLAIMED.
   *
   * @throws {MusterError} a refusal of the read
   * @throws the reason of its stop if the worker is closed meanwhile
   */
  async drained(): Promise<void> {
    const { signal } = this.#stop;
    const mailboxId = await this.mailboxId;
    await untilOver(
      ({ waitSeconds, ...callOptions }) => this.#muster.mailbox.view({ mailboxId, waitSeconds }, callOptions),
      ({ counts }) => counts.ready + counts.delayed + counts.claimed === 0,
      signal,
    );
    await Promise.all(this.#works);
  }

  /**
   * Stops: receives nothing more, and lets work continue for this many seconds. Then unfinished messages are given back, and
   * their `signal` aborts.
   */
  close(seconds = this.#options.closeSeconds ?? 25): Promise<void> {
    this.#closing ??= this.#close(seconds);
    return this.#closing;
  }

  /** Receives while there is room. */
  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const { scopeId = '*', leaseSeconds = 30, waitSeconds = 20, batch = true, resultsTo } = this.#options;
    const mailboxId = await this.mailboxId;
    const target = resultsTo === undefined ? undefined : await this.#find(resultsTo);
    const from = { mailboxId, scopeId, holder: this.#holder, holderSession: crypto.randomUUID(), leaseSeconds };
    let isInVain = false;
    let isWary = false;
    while (await this.#hasRoom()) {
      const askedAt = performance.now();
      // After a message that was worked on alone, there may be more of them.
      const max: number = batch && !isWary ? Math.min(100, this.#room()) : 1;
      // A receive sent with the end of a claim costs no request, but is not held. If it finds nothing, the next one is
      // held, because the end may be slow to be sent.
      const isJoined = !isInVain && this.#isEnding();
      isInVain = false;
      const answer = await this.#reach((callOptions, isAgain) =>
        isJoined && !isAgain && this.#outbox
          ? this.#outbox.send(this.#muster.call.message.recv<Payload, Result>({ ...from, max }), { isJoining: true })
          : this.#hold(from, () =>
              this.#muster.message.recv<Payload, Result>(
                { ...from, waitSeconds: isAgain ? 0 : waitSeconds, max },
                { ...callOptions, signal: this.#cut.signal },
              ),
            ),
      );
      const messages = answer?.messages ?? [];
      const suspect = this.#concurrency > 1 ? messages.find(isSuspect) : undefined;
      if (suspect) await this.#workAlone(suspect, messages, target);
      else for (const message of messages) void this.#begin(message, target);
      if (answer) isWary = suspect !== undefined;
      if (!answer && isJoined) isInVain = true;
      else if (!answer && performance.now() - askedAt < emptyPauseMs) await pause(emptyPauseMs, signal);
    }
  }

  async #hold<T>(
    { mailboxId, holderSession }: { readonly mailboxId: string; readonly holderSession: string },
    receive: () => Promise<T>,
  ): Promise<T> {
    this.#held = { mailboxId, holderSession, sinceMs: performance.now() };
    try {
      return await receive();
    } finally {
      this.#held = undefined;
    }
  }

  /** Whether the end of a claim is about to be sent. */
  #isEnding(): boolean {
    return this.#outbox !== undefined && [...this.#tasks].some((task) => task.isEnding);
  }

  /** How many messages may be received and begun now. */
  #room(): number {
    const free = this.#concurrency - this.#running;
    return this.#starts ? Math.min(free, this.#starts.room) : free;
  }

  /**
   * Waits for room; false once the worker stops. If there is little room, it waits a moment for more, to receive many
   * messages at once.
   */
  async #hasRoom(): Promise<boolean> {
    const { signal } = this.#stop;
    while (this.#room() === 0 && !signal.aborted)
      if (this.#running === this.#concurrency)
        await new Promise<void>((resolve) => {
          this.#released = resolve;
        });
      else await pause(this.#starts?.waitMs ?? 0, signal).catch(() => undefined);
    const isLittle = this.#options.batch !== false && this.#concurrency - this.#running < this.#concurrency / 4;
    if (isLittle && !signal.aborted) await pause(lingerMs, undefined);
    return !signal.aborted;
  }

  /** Begins the work on a message. before: called before the handler. */
  #begin(
    message: WorkerMessage<Payload, Result>,
    target: string | undefined,
    before?: () => Promise<unknown>,
  ): Promise<void> {
    const work = this.#work(message, target, before).finally(() => this.#works.delete(work));
    this.#works.add(work);
    return work;
  }

  /**
   * Works on a message that may end the process. What came with it goes back, what runs is waited for, and nothing more is
   * received meanwhile, each within limits: other work may be waiting for the next message.
   */
  async #workAlone(
    suspect: WorkerMessage<Payload, Result>,
    received: readonly WorkerMessage<Payload, Result>[],
    target: string | undefined,
  ): Promise<void> {
    const leaseMs = suspect.leaseSeconds * 1000;
    for (const other of received)
      if (other !== suspect) void this.#begin(other, target, () => Promise.reject(new Untried()));
    const others = Promise.all(this.#works);
    const work = this.#begin(suspect, target, () => within(leaseMs, Promise.race([others, this.#stopped])));
    await within(leaseMs * maxLeasesAlone, Promise.race([work, this.#stopped]));
  }

  async #work(
    message: WorkerMessage<Payload, Result>,
    target: string | undefined,
    before: (() => Promise<unknown>) | undefined,
  ): Promise<void> {
    const task: Task<Payload, Result> = new Task(
      message,
      { muster: this.#muster, holder: this.#holder },
      {
        progressed: () => this.#leases.progressed(),
        logged: (text, data) => this.#log(message, text, data),
        unsettled: (error) => this.#say(error),
        reservedLate: () => this.#ends.voidIfEnded(task),
      },
    );
    this.#running++;
    this.#counts.received++;
    this.#tasks.add(task);
    this.#leases.add(task);
    try {
      this.#emitter.emit('received', { message });
      await task.attempt.run(() => this.#attempt(task, target, before));
    } catch (error) {
      // A message that could not be given back becomes ready when its lease ends.
      task.attempt.failed(error);
      this.#say(error);
    } finally {
      task.attempt.end();
      this.#leases.delete(task);
      this.#tasks.delete(task);
    }
  }

  async #attempt(
    task: Task<Payload, Result>,
    target: string | undefined,
    before: (() => Promise<unknown>) | undefined,
  ): Promise<void> {
    const done = await this.#handle(task, before);
    task.ending = this.#end(task, done, target);
    await task.ending;
  }

  async #end(task: Task<Payload, Result>, done: Done<Result>, target: string | undefined): Promise<void> {
    if (task.isOver) await this.#ends.voidIfEnded(task);
    else if (task.asking) await this.#ask(task, task.asking);
    else if (task.suspending) await this.#suspend(task, task.suspending);
    else if ('error' in done) await this.#giveBack(task, done.error);
    else await this.#complete(task, done.result, target);
  }

  async #handle(task: Task<Payload, Result>, before: (() => Promise<unknown>) | undefined): Promise<Done<Result>> {
    try {
      if (before) await before();
      task.context.signal.throwIfAborted();
      // The message was received together with the last end, while the worker was closing.
      if (this.#stop.signal.aborted) throw new WorkerClosed('the worker has stopped');
      this.#starts?.begin();
      return { result: await this.#handler(task.message, task.context) };
    } catch (error) {
      return { error };
    } finally {
      task.isEnding = true;
      this.#running--;
      this.#released();
    }
  }

  async #complete(task: Task<Payload, Result>, result: Result, target: string | undefined): Promise<void> {
    const { message, receivedAt } = task;
    try {
      await this.#ends.complete(task, result, target);
    } catch (error) {
      if (isLost(error)) this.#lose(task, new ClaimLost(error.message, { cause: error }));
      if (task.isOver) return;
      // For example, the mailbox for results no longer exists.
      return this.#giveBack(task, error);
    }
    task.isOver = true;
    this.#counts.completed++;
    this.#emitter.emit('completed', { message, result, durationMs: performance.now() - receivedAt });
    await this.#ends.forget(task);
  }

  async #ask(task: Task<Payload, Result>, asking: Asking): Promise<void> {
    const question = await this.#putAside(task, () => this.#ends.ask(task, asking));
    if (!question) return;
    this.#counts.asked++;
    this.#emitter.emit('asked', { message: task.message, question });
  }

  async #suspend(task: Task<Payload, Result>, suspending: Suspending): Promise<void> {
    const answer = await this.#putAside(task, () => this.#ends.suspend(task, suspending));
    if (!answer) return;
    this.#counts.suspended++;
    this.#emitter.emit('suspended', { message: task.message });
  }

  /** Ends an attempt that does not count, by a call. Resolves with undefined if the message was lost or given back. */
  async #putAside<T>(task: Task<Payload, Result>, call: () => Promise<T>): Promise<T | undefined> {
    let answer: T;
    try {
      answer = await call();
    } catch (error) {
      if (isLost(error)) this.#lose(task, new ClaimLost(error.message, { cause: error }));
      // For example, its group is decided.
      if (!task.isOver) await this.#giveBack(task, error);
      return undefined;
    }
    task.end();
    return answer;
  }

  async #giveBack(task: Task<Payload, Result>, error: unknown): Promise<void> {
    const { message } = task;
    task.attempt.failed(error);
    try {
      const { state, readyAt } = await this.#ends.giveBack(task, error);
      task.end(error instanceof WorkerClosed ? error : undefined);
      this.#counts[state === 'READY' || state === 'DELAYED' ? 'returned' : 'failed']++;
      this.#emitter.emit('failed', { message, error, state, readyAt });
    } catch (refusal) {
      if (isLost(refusal)) this.#lose(task, new ClaimLost(refusal.message, { cause: refusal }));
      if (!task.isOver) throw refusal;
    }
  }

  #lose(task: Task<Payload, Result>, reason: ClaimLost): void {
    if (task.isOver) return;
    this.#counts.lost++;
    task.attempt.failed(reason);
    task.end(reason);
    this.#emitter.emit('lost', { message: task.message, reason });
  }

  /** Checks a claim when its message is reported to have ended. Without permission to watch, the next renewal does. */
  async #watch(): Promise<void> {
    const { signal } = this.#over;
    const { scopeId = '*' } = this.#options;
    const types = ['message.cancelled', 'message.expired'] as const;
    const scope = scopeId === '*' ? {} : { scopeId };
    for (;;)
      try {
        for await (const { payload } of this.#muster.events({ types, cursor: 'latest', signal, ...scope }))
          for (const task of this.#tasks) if (task.message.id === payload.messageId) void this.#leases.renew(task);
        return;
      } catch (error) {
        if (!isRefusal(error, 'CURSOR_EXPIRED')) return;
      }
  }

  async #close(seconds: number): Promise<void> {
    this.#stop.abort(new WorkerClosed('the worker has stopped'));
    this.#released();
    const left = this.#leave();
    await within(
      seconds * 1000,
      left.then(() => Promise.all(this.#works)),
    );
    await left;
    const reason = new WorkerClosed('the worker stopped before the work was done');
    const unfinished = [...this.#tasks].filter(({ isOver }) => !isOver);
    // What a handler has finished is not given back, though its end may not be answered yet.
    const ends = unfinished.map((task) => {
      task.ending ??= this.#giveBack(task, reason);
      return task.ending.catch(() => undefined);
    });
    await within(returnMs, Promise.all(ends));
    for (const task of this.#tasks) {
      task.end(reason);
      this.#leases.delete(task);
    }
    this.#over.abort();
    this.#emitter.emit('closed', {});
    this.#settle();
  }

  /**
   * Ends receiving. The server is asked to answer the held receive: if the request were cut, a message that it has just
   * claimed would be lost with the answer, wherever that is.
   */
  async #leave(): Promise<void> {
    const received = this.#receiving.then(() => 'over');
    const giveUp = setTimeout(() => this.#cut.abort(this.#stop.signal.reason), returnMs);
    let pauseMs = leaveAgainMs;
    // The first turn lets a loop end that holds no receive.
    for (let ms = 0; (await within(ms, received)) !== 'over' && !this.#cut.signal.aborted; ms = pauseMs, pauseMs *= 2)
      await this.#endHeld();
    clearTimeout(giveUp);
  }

  async #endHeld(): Promise<void> {
    if (!this.#held) return;
    const { sinceMs, ...held } = this.#held;
    try {
      await untraced(() => this.#muster.mailbox.leave(held, { attempts: 1, signal: this.#cut.signal }));
    } catch (error) {
      if (this.#cut.signal.aborted || isPassingRefusal(error)) return;
      await within(Math.max(0, answerMs - (performance.now() - sinceMs)), this.#receiving);
      this.#cut.abort(this.#stop.signal.reason);
    }
  }

  /** A call that the worker depends on was refused. */
  #fail(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#fatal = error;
    this.#say(error, true);
    void this.close();
  }

  #say(error: unknown, isFatal = false): void {
    if (this.#emitter.emit('error', { error, isFatal })) return;
    if (isPassingRefusal(error)) this.#outage.begins(error);
    else console.error(`${this.#holder}:`, error);
  }

  #log(message: WorkerMessage<Payload, Result>, text: string, data: unknown): void {
    if (this.#emitter.emit('log', { message, text, data })) return;
    console.log(`${this.#holder} ${message.id}: ${text}`, ...(data === undefined ? [] : [data]));
  }

  async #find(mailbox: WorkerOptions['mailbox']): Promise<string> {
    if (typeof mailbox === 'object' && 'mailboxId' in mailbox) return mailbox.mailboxId;
    const wanted = typeof mailbox === 'string' ? { name: mailbox } : mailbox;
    const create = (callOptions: CallOptions) => this.#muster.mailbox.create({ ...wanted, unique: true }, callOptions);
    const found = await this.#reach(create);
    warnOfDrift(this.#muster, wanted, found);
    return found.id;
  }

  /** Makes a call until it is answered, however long the service is away. isAgain: it has failed before. */
  async #reach<T>(
    call: (options: { signal: AbortSignal; attempts: number }, isAgain: boolean) => Promise<T>,
  ): Promise<T> {
    const { signal } = this.#stop;
    for (let failures = 0; ; failures++)
      try {
        const answer = await call({ signal, attempts: 1 }, failures > 0);
        this.#outage.ends();
        return answer;
      } catch (error) {
        if (signal.aborted || !isPassingRefusal(error)) throw error;
        this.#say(error);
        const askedMs = Math.min(60, error.retryAfterSeconds ?? 0) * 1000;
        await pause(backoffMs(failures, { maxMs: maxPauseMs, minMs: askedMs }), signal);
      }
  }
}

/** Whether a call may succeed later. A 402 counts: the plan's operations are available again next month. */
function isPassingRefusal(error: unknown): error is MusterError {
  return error instanceof MusterError && (isPassing(error) || error.status === 402);
}

/** Waits for a promise, but no longer than this. Resolves with undefined if the time is up. */
async function within<T>(ms: number, done: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.min(ms, maxTimerMs));
  });
  const first = await Promise.race([done, over]);
  clearTimeout(timer);
  return first;
}
