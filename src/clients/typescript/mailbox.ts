import type { AtomicCalls } from './generated/calls.ts';
import { type GroupFields, type GroupFieldsInBatch, type NewGroup, newGroup, TypedGroup } from './group.ts';
import { LateId } from './late-id.ts';
import { mailboxIdOf, withMailbox } from './mailbox-ids.ts';
import type { Muster } from './muster.ts';
import type {
  Answer,
  Args,
  AtomicOptions,
  BatchedArgs,
  BatchedCall,
  BatchedOptions,
  CallOptions,
  PendingCall,
  Typed,
} from './types.ts';
import { bounded, untilOver, type WaitOptions } from './waits.ts';
import type { Handler, WorkerOptions } from './worker/options.ts';
import { Worker } from './worker/worker.ts';

/** The types of a mailbox's payloads and of its worker's results. */
export interface MailboxTypes {
  readonly in: unknown;
  readonly out: unknown;
}

type MailboxFields = Omit<Args<'mailbox.create'>, 'name' | 'unique'>;
type Sending<In> = Typed<Args<'message.send'>, In, unknown>;
type SendFields<In> = Omit<Sending<In>, 'mailboxId'>;
type BatchedFields<In> = Omit<Typed<BatchedArgs<'message.send'>, In, unknown>, 'mailboxId'>;
type ScheduleFields<In> = Omit<Typed<Args<'schedule.create'>, In, unknown>, 'mailboxId'>;

/** The calls of a typed mailbox for `muster.batch`. */
export interface MailboxInBatch<In> {
  /** Like `muster.call.message.send`. */
  send(fields: BatchedFields<In>, options?: BatchedOptions): BatchedCall<Answer<'message.send'>>;
}

/** The calls of a typed mailbox within an atomic batch. */
export interface MailboxInAtomic<In> {
  /** Like `t.message.send`. */
  send(fields: BatchedFields<In>, options?: AtomicOptions<Answer<'message.send'>>): PendingCall<Answer<'message.send'>>;
  /** Like `t.group.create`. Tasks can be submitted to it in the same batch. */
  createGroup(fields: GroupFieldsInBatch): NewGroup<In>;
}

const finalStates: readonly string[] = ['ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED'];

/** The message ended without success, so it has no result. */
export class NoResult extends Error {
  override readonly name = 'NoResult';
  /** The message's current state. */
  readonly record: Answer<'message.view'>;

  constructor(record: Answer<'message.view'>) {
    super(`message ${record.id} is ${record.state}: ${record.lastError ?? record.reason ?? 'no reason was given'}`);
    this.record = record;
  }
}

/** A mailbox whose payloads and results have types, on which senders, workers and readers agree. */
export class TypedMailbox<In, Out> {
  readonly name: string;
  readonly #muster: Muster;
  readonly #create: MailboxFields & { readonly name: string };

  constructor(muster: Muster, name: string, fields: MailboxFields = {}) {
    this.#muster = muster;
    this.name = name;
    this.#create = { ...fields, name };
  }

  /** Its id. Finds the mailbox by name, or creates it. */
  id(): Promise<string> {
    return mailboxIdOf(this.#muster, this.#create);
  }

  /** Like `muster.message.send`. */
  async send(fields: SendFields<In>, options?: CallOptions): Promise<Answer<'message.send'>> {
    return withMailbox(this.#muster, this.#create, (mailboxId) =>
      this.#muster.message.send<In>({ ...fields, mailboxId } as Sending<In>, options),
    );
  }

  /** Its calls for a batch: `muster.batch([pages.call.send({ … }), …])`. */
  get call(): MailboxInBatch<In> {
    const late = new LateId(() => this.id());
    return {
      send: (fields, options) => this.#muster.call.message.send<In>(sent<In>(fields, late), options),
    };
  }

  /**
   * Its calls for an atomic batch: `muster.atomic((t) => pages.within(t).send({ … }))`, also in the plan of a handler's
   * `finish`.
   */
  within(t: AtomicCalls): MailboxInAtomic<In> {
    const late = new LateId(() => this.id());
    return {
      send: (fields, options) => t.message.send<In>(sent<In>(fields, late), options),
      createGroup: (fields) => newGroup<In>(t, { ...fields, mailboxId: late.id }),
    };
  }

  /** Creates a group whose tasks are delivered through this mailbox: like `muster.group.create`. */
  async createGroup(fields: GroupFields, options?: CallOptions): Promise<TypedGroup<In, Out>> {
    const { groupId } = await withMailbox(this.#muster, this.#create, (mailboxId) =>
      this.#muster.group.create({ ...fields, mailboxId }, options),
    );
    return this.group(groupId);
  }

  /** A group of this mailbox, by its id. */
  group(groupId: string): TypedGroup<In, Out> {
    return new TypedGroup<In, Out>(this.#muster, groupId);
  }

  /** Creates a schedule that sends to it, or changes an existing one of this name: like `muster.schedule.ensure`. */
  async schedule(
    fields: ScheduleFields<In>,
    options?: CallOptions,
  ): Promise<Typed<Answer<'schedule.create'>, In, unknown>> {
    const made = await withMailbox(this.#muster, this.#create, (mailboxId) =>
      this.#muster.schedule.ensure({ ...fields, mailboxId } as Args<'schedule.create'>, options),
    );
    return made as Typed<Answer<'schedule.create'>, In, unknown>;
  }

  /**
   * Waits until a message has ended, and resolves with its result.
   *
   * @throws {NoResult} if it was not ACKED
   * @throws {MusterError} MESSAGE_NOT_FOUND, or another refusal of the read
   */
  async result(messageId: string, options: WaitOptions = {}): Promise<Out> {
    const found = await bounded(options, (signal) =>
      untilOver(
        ({ waitSeconds, ...callOptions }) =>
          this.#muster.message.view<In, Out>({ messageId, waitSeconds }, callOptions),
        ({ state }) => finalStates.includes(state),
        signal,
      ),
    );
    if (found.state !== 'ACKED') throw new NoResult(found as Answer<'message.view'>);
    return found.result as Out;
  }

  /** Its messages over all pages, oldest first. */
  async *all(
    filter: Omit<Args<'message.list'>, 'mailboxId' | 'cursor'> = {},
    options?: CallOptions,
  ): AsyncGenerator<Typed<Answer<'message.list'>['messages'][number], In, Out>, void> {
    yield* this.#muster.message.all<In, Out>({ ...filter, mailboxId: await this.id() }, options);
  }

  /** Starts a worker on it. */
  worker(options: Omit<WorkerOptions, 'mailbox'>, handler: Handler<In, Out>): Worker<In, Out> {
    return new Worker<In, Out>(this.#muster, { ...options, mailbox: this.#create }, handler);
  }
}

function sent<In>(fields: BatchedFields<In>, late: LateId): Typed<BatchedArgs<'message.send'>, In, unknown> {
  return { ...fields, mailboxId: late.id } as Typed<BatchedArgs<'message.send'>, In, unknown>;
}

/** The mailboxes of a program, by name. */
export type Mailboxes<Registry> = <Name extends keyof Registry & string>(
  muster: Muster,
  name: Name,
) => Registry[Name] extends MailboxTypes ? TypedMailbox<Registry[Name]['in'], Registry[Name]['out']> : never;

/**
 * A registry of mailboxes that senders and workers share:
 *
 * ```ts
 * export const mailboxes = defineMailboxes<{ pages: { in: Page; out: Text } }>({ pages: { maxAttempts: 3 } });
 * const pages = mailboxes(muster, 'pages');
 * const { id } = await pages.send({ scopeId, payload: page });
 * const text = await pages.result(id);
 * ```
 *
 * fields: how to create each mailbox if it does not exist. In which of them an existing one differs is printed, once.
 */
export function defineMailboxes<Registry extends Readonly<Record<string, MailboxTypes>>>(
  fields: { readonly [Name in keyof Registry]?: MailboxFields } = {},
): Mailboxes<Registry> {
  return ((muster: Muster, name: string) => new TypedMailbox(muster, name, fields[name])) as Mailboxes<Registry>;
}
