import { withPrerequisites } from './after.ts';
import { encodeOnce } from './codec.ts';
import { type AtomicCalls, calls } from './generated/calls.ts';
import { LateId } from './late-id.ts';
import { type MusterOptions, send } from './send.ts';
import type { AtomicAnswers, CallOptions } from './types.ts';

type AnyCall = (args?: object, options?: { readonly expect?: object }) => unknown;
type AnyCalls = Record<string, Record<string, AnyCall>>;

interface AtomicResult {
  readonly body: unknown;
}

/** The positions of calls in their batch. */
const places = new WeakMap<object, number>();

/** A call whose ids are references to its future answer. */
function pending(call: object, index: number): object {
  const handle = new Proxy(call, {
    get: (target, name) => {
      if (name === 'id') return { $from: index };
      return typeof name === 'string' && name.endsWith('Id')
        ? { $from: index, member: name }
        : Reflect.get(target, name);
    },
  });
  places.set(handle, index);
  return handle;
}

interface Made {
  readonly call: string;
  readonly expect?: object;
}

/** The calls that a plan makes, and what it returns. */
function made<R>(plan: (calls: AtomicCalls) => R): { readonly list: readonly Made[]; readonly returned: R } {
  const list: Made[] = [];
  const planned: AnyCalls = {};
  for (const name of Object.keys(calls)) {
    const [room = '', call = ''] = name.split('.');
    planned[room] ??= {};
    planned[room][call] = (args = {}, { expect } = {}) => {
      const one = { call: name, ...withPrerequisites(args), ...(expect !== undefined && { expect }) };
      list.push(one);
      return pending(one, list.length - 1);
    };
  }
  return { returned: plan(planned as unknown as AtomicCalls), list };
}

/** Makes the calls of `plan` in one step: all happen, or none does. */
export async function sendAtomic<R>(
  options: MusterOptions,
  plan: (calls: AtomicCalls) => R,
  callOptions: CallOptions = {},
): Promise<AtomicAnswers<R>> {
  const { list, returned } = made(plan);
  const found = await LateId.found(list);
  const { results } = (await send(options, 'batch', { atomic: true, calls: found }, callOptions)) as {
    results: AtomicResult[];
  };
  const answerOf = (one: unknown): unknown => {
    const index = typeof one === 'object' && one !== null ? places.get(one) : undefined;
    return index === undefined ? one : (results[index]?.body ?? undefined);
  };
  const isCall = typeof returned === 'object' && returned !== null && places.has(returned);
  if (isCall || typeof returned !== 'object' || returned === null) return answerOf(returned) as AtomicAnswers<R>;
  if (Array.isArray(returned)) return returned.map(answerOf) as AtomicAnswers<R>;
  const answers = Object.entries(returned).map(([name, one]) => [name, answerOf(one)]);
  return Object.fromEntries(answers) as AtomicAnswers<R>;
}

/** Runs a plan and encodes its values, once. The returned plan makes the same calls as often as it is used. */
export async function recorded(muster: object, plan: (t: AtomicCalls) => unknown): Promise<(t: AtomicCalls) => void> {
  const { calls: list } = await encodeOnce(muster, { calls: await LateId.found(made(plan).list) });
  return (t) => {
    for (const { call: name, expect, ...args } of list) {
      const [room = '', call = ''] = name.split('.');
      (t as unknown as AnyCalls)[room]?.[call]?.(args, { ...(expect !== undefined && { expect }) });
    }
  };
}
