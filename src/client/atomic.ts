import { withPrerequisites } from './after.ts';
import { type AtomicCalls, calls } from './generated/calls.ts';
import { type MusterOptions, send } from './send.ts';
import type { AtomicAnswers, CallOptions } from './types.ts';

interface Result {
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

/** Makes the calls of `plan` in one step: all happen, or none does. */
export async function sendAtomic<R>(
  options: MusterOptions,
  plan: (calls: AtomicCalls) => R,
  callOptions: CallOptions = {},
): Promise<AtomicAnswers<R>> {
  const list: object[] = [];
  const planned: Record<string, Record<string, unknown>> = {};
  for (const name of Object.keys(calls)) {
    const [room = '', call = ''] = name.split('.');
    planned[room] ??= {};
    planned[room][call] = (args: object = {}, { expect }: { expect?: object } = {}) => {
      const made = { call: name, ...withPrerequisites(args), ...(expect !== undefined && { expect }) };
      list.push(made);
      return pending(made, list.length - 1);
    };
  }
  const returned = plan(planned as unknown as AtomicCalls);
  const { results } = (await send(options, 'batch', { atomic: true, calls: list }, callOptions)) as {
    results: Result[];
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

type AnyCall = (args?: object, options?: object) => unknown;
type AnyCalls = Record<string, Record<string, AnyCall>>;

/** A plan to use for several attempts. It runs once; later attempts repeat the calls it made. */
export function madeOnce(plan: (t: AtomicCalls) => unknown): (t: AtomicCalls) => void {
  const made: [room: string, call: string, args: object | undefined, options: object | undefined][] = [];
  let isMade = false;
  return (t) => {
    const real = t as unknown as AnyCalls;
    if (isMade) {
      for (const [room, call, args, options] of made) real[room]?.[call]?.(args, options);
      return;
    }
    isMade = true;
    const recording: AnyCalls = {};
    for (const [room, ofRoom] of Object.entries(real))
      recording[room] = Object.fromEntries(
        Object.entries(ofRoom).map(([call, make]): [string, AnyCall] => [
          call,
          (args, options) => {
            made.push([room, call, args, options]);
            return make(args, options);
          },
        ]),
      );
    plan(recording as unknown as AtomicCalls);
  };
}
