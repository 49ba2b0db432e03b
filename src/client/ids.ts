import type { Calls } from './generated/calls.ts';
import type { CallOptions } from './types.ts';

/** Kinds of records whose names are unique in their space. */
type Named = 'budget' | 'allowance' | 'pool';
type Id = string | undefined;
/** The lists of a client. */
type Lists = Pick<Calls, Named>;

/** Ids by kind and name. */
const known = new WeakMap<Lists, Map<string, string>>();

/** The id of a record by its name, looked up once. make: makes the call, as often as its caller likes. */
export async function idByName(
  muster: Lists,
  kind: Named,
  name: string,
  make: (call: (options: CallOptions) => Promise<Id>) => Promise<Id>,
): Promise<string> {
  const ids = known.get(muster) ?? new Map<string, string>();
  known.set(muster, ids);
  const key = `${kind} ${name}`;
  const first = async (options: CallOptions): Promise<Id> => {
    for await (const { id } of muster[kind].all({ name }, options)) return id;
    return undefined;
  };
  const id = ids.get(key) ?? (await make(first));
  if (id === undefined) throw new Error(`there is no ${kind} named ${name}`);
  ids.set(key, id);
  return id;
}

/** Has a name be looked up again: it may be another's by now. */
export function forgetName(muster: Lists, kind: Named, name: string): void {
  known.get(muster)?.delete(`${kind} ${name}`);
}
