import { MusterError } from '../error.ts';
import { mailboxIdOf } from '../mailbox-ids.ts';
import type { Muster } from '../muster.ts';
import type { Answer, Args } from '../types.ts';
import type { Memos } from './memos.ts';
import type { MailboxRef, TaskSendFields, WorkerMessage } from './message.ts';
import type { PrerequisiteResult } from './results.ts';
import type { Spender } from './spending.ts';

/** The conditions of a suspension; at least one of `after`, `note` and `delaySeconds`. */
export type SuspendOptions = Pick<
  Args<'message.suspend'>,
  'after' | 'note' | 'delaySeconds' | 'any' | 'timeoutSeconds' | 'onTimeout' | 'yieldsKey'
>;

/** Options of a join. */
export type JoinOptions = Pick<Args<'message.suspend'>, 'timeoutSeconds' | 'onTimeout' | 'yieldsKey'>;

/** A message to send and join. By default it is sent into the handler's run. */
export interface JoinedSend extends Omit<TaskSendFields, 'workKey'> {
  readonly mailbox: MailboxRef;
  readonly payload: unknown;
}

/** How a handler ends its attempt: the calls that are made with the suspension, in one atomic step. */
export interface Suspending {
  readonly options: SuspendOptions;
  /** The messages of a join, which the suspension waits for. */
  readonly sends?: readonly Args<'message.send'>[];
  /** The note that says that they were sent. */
  readonly note?: Args<'note.put'>;
}

/** Thrown by `task.suspend`, `task.sleep` and `task.join`: the attempt ends, and the next one begins later. Don't catch it. */
export class Suspended extends Error {
  override readonly name = 'Suspended';
  constructor() {
    super('the attempt ends here; the next one begins when what the message waits for is over');
  }
}

/** Thrown by `task.join` if a message did not come out ACKED. */
export class JoinFailed extends Error {
  override readonly name = 'JoinFailed';
  /** The outcomes of all messages, in order. */
  readonly results: readonly PrerequisiteResult[];
  constructor(name: string, results: readonly PrerequisiteResult[]) {
    const failed = results.filter(({ state }) => state !== 'ACKED');
    super(`${failed.length} of ${results.length} messages of the join ${name} did not succeed: ${statesOf(failed)}`);
    this.results = results;
  }

  /** The outcomes of those that did not come out ACKED. */
  get failed(): readonly PrerequisiteResult[] {
    return this.results.filter(({ state }) => state !== 'ACKED');
  }
}

const statesOf = (failed: readonly PrerequisiteResult[]): string =>
  [...new Set(failed.map(({ state }) => state ?? 'removed'))].join(', ');

/** The most messages of a join: so many things a suspension waits for. */
const maxJoined = 50;
/** An atomic step has at most 25 calls, two of which are the note and the suspension. */
const maxInStep = 23;
/** Concurrent reads. */
const atOnce = 8;
const finalStates: readonly (string | null)[] = ['ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED'];

/** Whether a message has just been woken from a sleep until this time, which the store counts in seconds. */
export function hasSlept({ suspension }: Pick<WorkerMessage, 'suspension'>, until: number): boolean {
  const wokenAt = suspension?.wokenBy === 'CONDITION' && suspension.until ? Date.parse(suspension.until) : 0;
  return wokenAt >= until - 1000;
}

/** A message at work, for its joins. */
export interface Joiner {
  readonly message: Pick<WorkerMessage, 'id' | 'scopeId' | 'token' | 'suspension'>;
  readonly muster: Muster;
  readonly insist: Spender['insist'];
  readonly memos: Memos;
  /** Ends the attempt. */
  readonly suspend: (suspending: Suspending) => Promise<never>;
}

const sent = 'sent';
/** The value of a join's step: first that its messages were sent, then their ids, and whether its time has passed. */
type Known = typeof sent | readonly string[] | { readonly ids: readonly string[]; readonly timedOut: true };

/** See `TaskContext.join`. */
export async function join<Result>(
  joiner: Joiner,
  name: string,
  sends: readonly JoinedSend[],
  options: JoinOptions,
): Promise<readonly Result[]> {
  const { message, memos } = joiner;
  if (sends.length === 0) return [];
  if (sends.length > maxJoined)
    throw new RangeError(`a join has at most ${maxJoined} messages, and ${name} has ${sends.length}: join in steps`);
  const key = `join:${name}`;
  const known = await memos.find<Known>(key);
  if (known === undefined) {
    const calls = await callsOf(joiner, name, sends);
    const { id: messageId, scopeId, token } = message;
    const note = { scopeId, key: memos.noteKey(key), value: sent, ifVersion: 0, messageId, token };
    // An atomic step has room for so many. The others are sent before; a second attempt sends none of them again.
    const before = await sentBefore(joiner, calls.slice(0, -maxInStep));
    const after = before.map((id) => ({ messageId: id }));
    return joiner.suspend({ options: { ...options, after }, sends: calls.slice(-maxInStep), note });
  }
  const hasTimedOut = typeof known === 'object' && 'timedOut' in known;
  const ids = hasTimedOut ? known.ids : known === sent ? await idsOf(joiner, name, sends) : known;
  if (known === sent) await memos.replace(key, ids);
  const results = await resultsOf<Result>(joiner, ids);
  const isOver = results.every(({ state }) => state === null || finalStates.includes(state));
  if (!isOver && !hasTimedOut) {
    if (message.suspension?.wokenBy !== 'TIMEOUT')
      return joiner.suspend({ options: { ...options, after: ids.map((messageId) => ({ messageId })) } });
    // Later attempts don't wait for it again.
    await memos.replace(key, { ids, timedOut: true });
  }
  if (results.some(({ state }) => state !== 'ACKED')) throw new JoinFailed(name, results);
  return results.map(({ result }) => result as Result);
}

const workKeyOf = ({ message }: Joiner, name: string, index: number): string => `${message.id}/${name}/${index}`;

/** The sends of a join, each with a workKey, so that nothing is sent twice. */
async function callsOf(joiner: Joiner, name: string, sends: readonly JoinedSend[]) {
  const { message, muster, insist } = joiner;
  const calls: Args<'message.send'>[] = [];
  for (const [index, { mailbox, payload, ...fields }] of sends.entries()) {
    const fieldsOfBox = typeof mailbox === 'string' ? { name: mailbox } : mailbox;
    const mailboxId =
      'mailboxId' in fieldsOfBox ? fieldsOfBox.mailboxId : await mailboxIdOf(muster, fieldsOfBox, insist);
    const workKey = workKeyOf(joiner, name, index);
    calls.push({ scopeId: message.scopeId, ...fields, mailboxId, payload, workKey });
  }
  return calls;
}

/** Sends messages in a batch. */
async function sentBefore({ muster, insist }: Joiner, calls: readonly Args<'message.send'>[]) {
  if (calls.length === 0) return [];
  const batched = calls.map((call) => muster.call.message.send(call));
  const results = await insist((callOptions) => muster.batch(batched, callOptions));
  return results.map((result) => {
    if (!result.ok) throw result.error;
    return result.answer.id;
  });
}

/** The ids of messages that were sent: from the suspension, or else from sends that are known by their workKeys. */
async function idsOf(joiner: Joiner, name: string, sends: readonly JoinedSend[]): Promise<readonly string[]> {
  const after = joiner.message.suspension?.after.flatMap(({ messageId }) => messageId ?? []) ?? [];
  if (after.length === sends.length && (await areJoined(joiner, name, after))) return after;
  const { muster, insist } = joiner;
  const ids: string[] = [];
  for (const call of await callsOf(joiner, name, sends))
    ids.push((await insist((callOptions) => muster.message.send(call, callOptions))).id);
  return ids;
}

/** Whether the last suspension was that of this join: the message may have been suspended for something else since. */
async function areJoined(joiner: Joiner, name: string, ids: readonly string[]): Promise<boolean> {
  for (const [index, messageId] of ids.entries()) {
    const found = await viewOf(joiner, messageId);
    if (found) return found.workKey === workKeyOf(joiner, name, index);
  }
  // Retention has removed all of them.
  return true;
}

async function resultsOf<Result>(
  joiner: Joiner,
  ids: readonly string[],
): Promise<readonly PrerequisiteResult<Result | null>[]> {
  const resultOf = async (messageId: string): Promise<PrerequisiteResult<Result | null>> => {
    const { state, result } = (await viewOf(joiner, messageId)) ?? { state: null, result: null };
    return { messageId, groupId: null, scopeId: null, state, result: result as Result | null };
  };
  const results: PrerequisiteResult<Result | null>[] = [];
  for (let at = 0; at < ids.length; at += atOnce)
    results.push(...(await Promise.all(ids.slice(at, at + atOnce).map(resultOf))));
  return results;
}

/** A message; null if retention has removed it. */
async function viewOf({ muster, insist }: Joiner, messageId: string): Promise<Answer<'message.view'> | null> {
  try {
    return await insist((callOptions) => muster.message.view({ messageId }, callOptions));
  } catch (error) {
    if (error instanceof MusterError && error.status === 404) return null;
    throw error;
  }
}
