import { isRefusal } from './error.ts';
import { warnOfDrift } from './ids.ts';
import type { Muster } from './muster.ts';
import type { Answer, Args, CallOptions } from './types.ts';

type Fields = Omit<Args<'mailbox.create'>, 'unique'>;
type Mailbox = Answer<'mailbox.create'>;
type Make = (call: (options: CallOptions) => Promise<Mailbox>) => Promise<Mailbox>;

/** Ids by client and fields. */
const known = new WeakMap<object, Map<string, string>>();

/** The id of a mailbox, which is found by its name or created. make: makes the call, and may repeat it. */
export async function mailboxIdOf(muster: Muster, fields: Fields, make: Make = (call) => call({})): Promise<string> {
  const ids = known.get(muster) ?? new Map<string, string>();
  known.set(muster, ids);
  const key = JSON.stringify(fields);
  const found = ids.get(key);
  if (found !== undefined) return found;
  const record = await make((options) => muster.mailbox.create({ ...fields, unique: true }, options));
  warnOfDrift(muster, fields, record);
  ids.set(key, record.id);
  return record.id;
}

/** Does work with a mailbox. If the known one was deleted, its successor of the same name is found or created. */
export async function withMailbox<T>(
  muster: Muster,
  fields: Fields,
  work: (mailboxId: string) => Promise<T>,
  make?: Make,
): Promise<T> {
  const key = JSON.stringify(fields);
  const isKnown = known.get(muster)?.has(key);
  try {
    return await work(await mailboxIdOf(muster, fields, make));
  } catch (error) {
    if (!isKnown || !isRefusal(error, 'MAILBOX_NOT_FOUND')) throw error;
    known.get(muster)?.delete(key);
    return work(await mailboxIdOf(muster, fields, make));
  }
}
