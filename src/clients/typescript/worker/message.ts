import type { Answer, Args, OneOf, Typed } from '../types.ts';

/** A message for a worker's handler, with these types for its payload and its earlier results. */
export type WorkerMessage<Payload = unknown, Result = unknown> = Typed<
  NonNullable<OneOf<Answer<'message.recv'>>>,
  Payload,
  Result
>;

/** A mailbox: by its name, created if it does not exist; by its fields, to create it with these; or by its id. */
export type MailboxRef = string | Args<'mailbox.create'> | { readonly mailboxId: string };

/** The fields of a message that a handler sends. By default it is sent into the handler's run. */
export type TaskSendFields = Omit<Args<'message.send'>, 'mailboxId' | 'scopeId' | 'payload'> &
  Partial<Pick<Args<'message.send'>, 'scopeId'>>;
