import { atomicCalls, batchedCalls, type Document } from '../document.ts';

/** A way to make calls: directly, in a batch, in an atomic batch, or in an asyncio program. */
export interface MethodKind {
  /** Classes with a room's calls: the suffix of their names, and their base. */
  readonly suffix: string;
  readonly base: string;
  /** The class with all rooms, its docstring, and the parameter that it passes to them. */
  readonly all: string;
  readonly about: string;
  readonly passes?: { readonly name: string; readonly type: string };
  readonly isBatched?: true;
  readonly isAtomic?: true;
  readonly isAsync?: true;
  readonly gives: (type: string) => string;
  /** The names of the calls that can be made this way; by default all. */
  readonly taken?: (document: Document) => ReadonlySet<string>;
}

const about = 'Every call of the API, by primitive';
export const alone: MethodKind = {
  suffix: 'Calls',
  base: 'Calls',
  all: 'AllCalls',
  about,
  passes: { name: 'sender', type: 'Sender' },
  gives: (type) => type,
};
export const inBatch: MethodKind = {
  suffix: 'InBatch',
  base: 'CallsInBatch',
  all: 'AllCallsInBatch',
  about: 'Every call that a batch takes, by primitive: `muster.call.message.send(…)` sends nothing yet',
  isBatched: true,
  gives: (type) => `BatchedCall[${type}]`,
  taken: batchedCalls,
};
export const inAtomic: MethodKind = {
  suffix: 'InAtomic',
  base: 'CallsInAtomic',
  all: 'AtomicCalls',
  about: 'Every call that an atomic batch takes, by primitive: `t.message.send(…)` sends nothing yet',
  passes: { name: 'plan', type: 'Plan' },
  isBatched: true,
  isAtomic: true,
  gives: (type) => `PendingCall[${type}]`,
  taken: atomicCalls,
};
export const inAsync: MethodKind = {
  ...alone,
  suffix: 'AsyncCalls',
  base: 'AsyncCalls',
  all: 'AllAsyncCalls',
  passes: { name: 'sender', type: 'AsyncSender' },
  isAsync: true,
};
