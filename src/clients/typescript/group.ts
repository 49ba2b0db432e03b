import type { AtomicCalls } from './generated/calls.ts';
import type { Verdict } from './judge.ts';
import type { Muster } from './muster.ts';
import type {
  Answer,
  Args,
  AtomicOptions,
  BatchedArgs,
  BatchedCall,
  BatchedOptions,
  CallOptions,
  From,
  PendingCall,
  Typed,
} from './types.ts';
import type { WaitOptions } from './waits.ts';

export type GroupFields = Omit<Args<'group.create'>, 'mailboxId'>;
export type GroupFieldsInBatch = Omit<BatchedArgs<'group.create'>, 'mailboxId'>;

type SubmitFields<In> = Omit<Args<'task.submit'>, 'groupId' | 'input'> & { readonly input: In };
type SubmitFieldsInBatch<In> = Omit<BatchedArgs<'task.submit'>, 'groupId' | 'input'> & { readonly input: In };
type Submitted = Answer<'task.submit'>;

/** A group with tasks of one typed mailbox. */
export class TypedGroup<In, Out> {
  readonly groupId: string;
  readonly #muster: Muster;

  constructor(muster: Muster, groupId: string) {
    this.#muster = muster;
    this.groupId = groupId;
  }

  /** Like `muster.task.submit`. */
  submit(fields: SubmitFields<In>, options?: CallOptions): Promise<Submitted> {
    return this.#muster.task.submit<In>(inGroup(fields, this.groupId), options);
  }

  /** Its calls for a batch: `muster.batch([group.call.submit({ … }), …])`. */
  get call(): { submit(fields: SubmitFieldsInBatch<In>, options?: BatchedOptions): BatchedCall<Submitted> } {
    const { task } = this.#muster.call;
    return { submit: (fields, options) => task.submit<In>(inGroup(fields, this.groupId), options) };
  }

  /** Its calls for an atomic batch: `muster.atomic((t) => group.within(t).submit({ … }))`. */
  within(t: AtomicCalls): {
    submit(fields: SubmitFieldsInBatch<In>, options?: AtomicOptions<Submitted>): PendingCall<Submitted>;
  } {
    return { submit: (fields, options) => t.task.submit<In>(inGroup(fields, this.groupId), options) };
  }

  /** Like `muster.group.seal`. */
  seal(options?: CallOptions): Promise<Answer<'group.seal'>> {
    return this.#muster.group.seal({ groupId: this.groupId }, options);
  }

  /** Like `muster.group.waitDecided`. */
  waitDecided(options?: WaitOptions): Promise<Typed<Answer<'group.view'>, unknown, Out>> {
    return this.#muster.group.waitDecided<Out>({ groupId: this.groupId }, options);
  }

  /** Like `muster.judge`. */
  judge(
    verdict: Verdict<Out>,
    options?: Pick<CallOptions, 'signal'>,
  ): Promise<Typed<Answer<'group.view'>, unknown, Out>> {
    return this.#muster.judge<Out>(this, verdict, options);
  }
}

/** A group that an atomic batch creates. */
export interface NewGroup<In> {
  /** The call that creates it, for the answers of the batch. */
  readonly created: PendingCall<Answer<'group.create'>>;
  readonly groupId: From;
  /** Like `t.task.submit`. */
  submit(fields: SubmitFieldsInBatch<In>, options?: AtomicOptions<Submitted>): PendingCall<Submitted>;
  /** Like `t.group.seal`. */
  seal(): PendingCall<Answer<'group.seal'>>;
}

export function newGroup<In>(t: AtomicCalls, fields: BatchedArgs<'group.create'>): NewGroup<In> {
  const created = t.group.create(fields);
  const { groupId } = created;
  return {
    created,
    groupId,
    submit: (submitted, options) => t.task.submit<In>(inGroup(submitted, groupId), options),
    seal: () => t.group.seal({ groupId }),
  };
}

/** The arguments of a submit. Their types agree, but not as far as the compiler can see. */
function inGroup<T>(fields: object, groupId: string | From): T {
  return { ...fields, groupId } as T;
}
