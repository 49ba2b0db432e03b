import type { Args } from './types.ts';

type Id = Args<'message.send'>['mailboxId'];

/** The id of a mailbox in a call of a batch, found when the batch is sent. */
export class LateId {
  readonly #find: () => Promise<string>;

  constructor(find: () => Promise<string>) {
    this.#find = find;
  }

  /** This, where the types have an id. */
  get id(): Id {
    return this as unknown as Id;
  }

  /** The calls of a batch, with the ids of their mailboxes. */
  static async found<T extends object>(calls: readonly T[]): Promise<readonly T[]> {
    if (!calls.some(isLate)) return calls;
    return Promise.all(
      calls.map(async (call) => (isLate(call) ? { ...call, mailboxId: await call.mailboxId.#find() } : call)),
    );
  }
}

function isLate(call: object): call is { readonly mailboxId: LateId } {
  return 'mailboxId' in call && call.mailboxId instanceof LateId;
}
