import { withPrerequisites } from './after.ts';
import { sendAtomic } from './atomic.ts';
import { batched, sendBatch } from './batch.ts';
import { keepCodecs } from './codec.ts';
import { type AtomicCalls, type BatchedCalls, type Calls, calls, named, pages } from './generated/calls.ts';
import { ensure } from './ids.ts';
import { type Journal, journal } from './journal.ts';
import { type GroupRef, judge, type Verdict } from './judge.ts';
import { itemsOf } from './pages.ts';
import { Pool, type PoolRef } from './pool.ts';
import { type MusterOptions, send } from './send.ts';
import { timeOf } from './server-time.ts';
import type { ModelCall } from './spend/model-call.ts';
import { type SpendOptions, spend } from './spend/spend.ts';
import { type SpendFor, spenderOf } from './spend/spender.ts';
import type {
  Answer,
  AtomicAnswers,
  BatchedCall,
  BatchedOptions,
  BatchResults,
  CallOptions,
  EventFilter,
  EventOf,
  JournalOptions,
  Typed,
} from './types.ts';
import { type BarrierWaits, type GroupWaits, type ScopeWaits, waitsOf } from './waits.ts';

/** A client for one space: its calls, alone or several in one request, and helpers built on them. */
export interface Muster extends Omit<Calls, 'pool' | 'scope' | 'barrier' | 'group'> {
  /**
   * The calls of pools. Called with a name, it holds units of that pool: `muster.pool('deploys').hold(async (hold) => …)`.
   */
  readonly pool: Calls['pool'] & ((pool: PoolRef) => Pool);
  readonly scope: Calls['scope'] & ScopeWaits;
  readonly barrier: Calls['barrier'] & BarrierWaits;
  readonly group: Calls['group'] & GroupWaits;
  /** Calls for a batch: `muster.call.message.send({ … })` sends nothing yet. */
  readonly call: BatchedCalls;
  /**
   * Makes 1 to 100 calls in one request, in order: `muster.batch([muster.call.message.send({ … }), …])`. Resolves with the
   * outcome of each. A refused call does not stop the others and is not retried. The calls' Idempotency-Keys derive from the
   * batch's, so a retry of the batch does nothing twice.
   */
  batch<const List extends readonly BatchedCall[]>(list: List, options?: CallOptions): Promise<BatchResults<List>>;
  /**
   * Makes 1 to 25 calls in one step: all happen, in order, each seeing the effects of earlier ones, or none happens.
   * `plan` makes the calls on `t`, and may use the ids of their answers before these exist: `muster.atomic((t) => {
   * const run = t.scope.create({ … }); return t.message.send({ scopeId: run.id, … }); })`. A call may `expect` members
   * of its answer. Resolves with the answers of the calls that `plan` returns: one call, or the calls in an object or a
   * list. If a retry finds that the batch has already happened, its reads answer undefined.
   *
   * @throws {MusterError} the refusal of one of the calls; EXPECTATION_FAILED
   */
  atomic<R>(plan: (t: AtomicCalls) => R, options?: CallOptions): Promise<AtomicAnswers<R>>;
  /**
   * Follows the journal: `for await (const event of muster.events({ types: ['message.*'] }))`. Continues across lost
   * connections and returns each event once.
   *
   * @throws {MusterError} if it cannot continue: CURSOR_EXPIRED, EVENTS_DAMAGED, or a revoked key
   */
  events<const F extends EventFilter = never>(options?: JournalOptions<F>): Journal<EventOf<F>>;
  /**
   * Makes a model call within a quota and a budget: `muster.spend({ budget, quota, estimate, price }, async (call) => …)`.
   * Takes the units and reserves the money, runs the function, and settles both with the usage in the provider's answer. A
   * 429 starts a cooldown of the quota for everybody, and the function runs again when its turn has come. If the function
   * throws, settles what the provider has billed, or the estimate if that is unknown, and gives back the rest.
   *
   * @throws {MusterError} INSUFFICIENT_BUDGET, or another refusal of the reservation or of its settlement
   * @throws whatever `work` throws
   */
  spend<T>(options: SpendOptions & SpendFor, work: (call: ModelCall) => Promise<T>): Promise<T>;
  /**
   * Judges the members of a group as they succeed: `muster.judge(group, ({ outcome }) => outcome.approves)`. True accepts,
   * false rejects, undefined leaves the member to other judges. Resolves with the group once it is decided. A judge may start
   * again at any time: existing verdicts stay.
   *
   * @throws {MusterError} GROUP_NOT_FOUND, or another refusal of a read
   * @throws whatever `verdict` throws, and the signal's reason once it aborts
   */
  judge<Result = unknown>(
    group: GroupRef,
    verdict: Verdict<Result>,
    options?: Pick<CallOptions, 'signal'>,
  ): Promise<Typed<Answer<'group.view'>, unknown, Result>>;
}

/**
 * A client for one space: `muster.message.send({ mailboxId, scopeId, payload })`. Path, query and body fields are passed as
 * one object; calls resolve with the response body. State-changing calls carry an Idempotency-Key. They are retried with it
 * for `retrySeconds`, after 429 or 503 or if there is no response of Muster. `message.recv` takes no such key: a claim whose
 * response was lost ends with its lease.
 *
 * @throws {MusterError} from every call. Codes that most calls may answer are not listed with each: see `ErrorCodes`.
 */
export function createMuster(options: MusterOptions): Muster {
  const muster: Record<string, Record<string, unknown>> = {};
  const inBatch: Record<string, Record<string, unknown>> = {};
  for (const name of Object.keys(calls) as (keyof typeof calls)[]) {
    const [room = '', call = ''] = name.split('.');
    muster[room] ??= {};
    muster[room][call] = (args: Record<string, unknown> = {}, callOptions: CallOptions = {}) =>
      send(options, name, withPrerequisites(args), callOptions);
    inBatch[room] ??= {};
    inBatch[room][call] = (args: object = {}, callOptions?: BatchedOptions) =>
      batched(name, withPrerequisites(args), callOptions);
  }
  for (const [name, [list, iterator]] of Object.entries(pages)) {
    const [room = ''] = name.split('.');
    muster[room] = {
      ...muster[room],
      [iterator]: (args: object = {}, callOptions: CallOptions = {}) =>
        itemsOf(list, (cursor) => send(options, name as keyof typeof pages, { ...args, ...cursor }, callOptions)),
    };
  }
  for (const room of [...named, 'mailbox'] as const) {
    const calls = muster[room] as unknown as Parameters<typeof ensure>[1];
    muster[room] = {
      ...muster[room],
      ensure: (args: Record<string, unknown>, callOptions: CallOptions = {}) => ensure(room, calls, args, callOptions),
    };
  }
  const batch = (list: readonly BatchedCall[], callOptions?: CallOptions) => sendBatch(options, list, callOptions);
  const events = <const F extends EventFilter = never>(journalOptions: JournalOptions<F> = {}) =>
    journal(options, journalOptions);
  const atomic = <R>(plan: (t: AtomicCalls) => R, callOptions?: CallOptions) => sendAtomic(options, plan, callOptions);
  const pool = Object.assign((ref: PoolRef) => new Pool(made, ref), muster['pool']);
  for (const [room, waits] of Object.entries(waitsOf(muster as unknown as Calls)))
    muster[room] = { ...muster[room], ...waits };
  const made = { ...muster, pool, call: inBatch, batch, atomic, events } as unknown as Muster;
  made.judge = (group, verdict, judgeOptions = {}) => judge(made, group, verdict, judgeOptions);
  if (options.codecs) keepCodecs(made, options.codecs);
  const scopeId = crypto.randomUUID();
  const now = async (): Promise<number> => {
    // Any answer has the server's time, a refusal as well.
    if (timeOf(options) === undefined) await made.limits.get().catch(() => undefined);
    return timeOf(options) ?? Date.now();
  };
  made.spend = (spendOptions, work) => spend(spenderOf(made, scopeId, spendOptions, now), spendOptions, work);
  return made;
}
