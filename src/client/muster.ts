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
import type { ModelCall } from './spend/model-call.ts';
import { type SpendFor, type SpendOptions, spend, spenderOf } from './spend/spend.ts';
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

/** All calls of one space, and many in one request. */
export interface Muster extends Omit<Calls, 'pool'> {
  /** The calls of pools; called with a name, it holds units of a pool: `muster.pool('deploys').hold(async (hold) => …)`. */
  readonly pool: Calls['pool'] & ((pool: PoolRef) => Pool);
  /** The calls as a batch takes them: `muster.call.message.send({ … })` sends nothing yet. */
  readonly call: BatchedCalls;
  /**
   * Makes 1 to 100 calls in one request, in order: `muster.batch([muster.call.message.send({ … }), …])`. Resolves with
   * what became of each; a call that is refused does not stop the others, and is not retried by itself. Their
   * Idempotency-Keys are made of the batch's, so a retry of the batch does nothing twice.
   */
  batch<const List extends readonly BatchedCall[]>(list: List, options?: CallOptions): Promise<BatchResults<List>>;
  /**
   * Makes 1 to 25 calls in one step: all happen, in order, each seeing those before it, or none does. `plan` makes the calls of
   * `t`, and may use the ids of their answers before these exist: `muster.atomic((t) => { const run = t.scope.create({ … });
   * return t.message.send({ scopeId: run.id, … }); })`. A call may `expect` members of its answer. Resolves with the answers of
   * the calls that `plan` returns: one, or those in an object or a list. A retry gets null for what was read.
   *
   * @throws {MusterError} the refusal of the call that was refused; EXPECTATION_FAILED
   */
  atomic<R>(plan: (t: AtomicCalls) => R, options?: CallOptions): Promise<AtomicAnswers<R>>;
  /**
   * The journal as it goes on: `for await (const event of muster.events({ types: ['message.*'] }))`. Goes on by itself over
   * cut connections, and gives each event once. Throws where it cannot go on: CURSOR_EXPIRED, EVENTS_DAMAGED, a revoked key.
   */
  events<const F extends EventFilter = never>(options?: JournalOptions<F>): Journal<EventOf<F>>;
  /**
   * Makes a call of a model within a quota and a budget: `muster.spend({ budget, quota, estimate, price }, async (call) => …)`.
   * Takes the units and reserves the money, runs the function, and settles both with what the provider's answer says was
   * used. A 429 cools the quota down for everybody, and the function is called again once its turn has come. If it throws,
   * what the provider has billed is settled, and the rest is given back.
   */
  spend<T>(options: SpendOptions & SpendFor, work: (call: ModelCall) => Promise<T>): Promise<T>;
  /**
   * Judges the members of a group as they succeed: `muster.judge(group, ({ outcome }) => outcome.approves)`. True accepts,
   * false rejects, undefined leaves it to others. Resolves with the group once it is decided. A judge that ended before
   * may begin again: what was judged stays so.
   */
  judge<Result = unknown>(
    group: GroupRef,
    verdict: Verdict<Result>,
    options?: Pick<CallOptions, 'signal'>,
  ): Promise<Typed<Answer<'group.view'>, unknown, Result>>;
}

/**
 * A client for one space: `muster.message.send({ mailboxId, scopeId, payload })`. Path, query and body fields are passed
 * as one object; calls resolve with the response body. State-changing calls carry an Idempotency-Key and are retried with
 * it, a few times, without a response or after 429 or 503. `message.recv` takes no such key: a claim whose response was
 * lost ends with its lease.
 *
 * @throws {MusterError} from every call. The codes that most calls may answer are not listed with each: see `ErrorCodes`.
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
  for (const room of named) {
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
  const made = { ...muster, pool, call: inBatch, batch, atomic, events } as unknown as Muster;
  made.judge = (group, verdict, judgeOptions = {}) => judge(made, group, verdict, judgeOptions);
  if (options.codecs) keepCodecs(made, options.codecs);
  const scopeId = crypto.randomUUID();
  made.spend = (spendOptions, work) => spend(spenderOf(made, scopeId, spendOptions), spendOptions, work);
  return made;
}
