import { isRefusal, MusterError } from './error.ts';
import type { Calls, named } from './generated/calls.ts';
import type { CallOptions } from './types.ts';

/** Kinds of records whose names are unique in their space. */
type Named = (typeof named)[number];
type Id = string | undefined;
/** The lists of a client. */
type Lists = Pick<Calls, Named>;

/** Ids by kind and name. */
const known = new WeakMap<Lists, Map<string, string>>();

/** The id of a record by its name, looked up once. make: makes the call, and may repeat it. */
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

/** Forgets the id of a name. The name may belong to another record by now. */
export function forgetName(muster: Lists, kind: Named, name: string): void {
  known.get(muster)?.delete(`${kind} ${name}`);
}

interface Making {
  readonly create: (fields: Fields, options: CallOptions) => Promise<Fields>;
  readonly all: (filter: { name: unknown }, options: CallOptions) => AsyncIterable<Fields>;
}
type Fields = Readonly<Record<string, unknown>>;

/** Finds or creates the record with this name. Refuses a record that differs in the fields asked for. */
export async function ensure(kind: Named, { create, all }: Making, asked: Fields, options: CallOptions) {
  const find = async (): Promise<Fields | undefined> => {
    for await (const record of all({ name: asked['name'] }, options)) return record;
    return undefined;
  };
  const exists = `${kind.toUpperCase()}_EXISTS` as MusterError['code'];
  let record = await find();
  try {
    record ??= await create(asked, options);
  } catch (error) {
    // Somebody else has created it meanwhile.
    if (isRefusal(error, exists)) record = await find();
    if (!record) throw error;
  }
  const differs = (field: string): boolean => asOne(field, asked[field]) !== asOne(field, record[field]);
  // A pool's `unique` is not a field of the record.
  const isGiven = (field: string): boolean => field in record && (asked[field] ?? null) !== null;
  const fields = Object.keys(asked).filter((field) => isGiven(field) && differs(field));
  if (fields.length === 0) return record;
  const texts = fields.map((field) => `${field} ${JSON.stringify(record[field])}, not ${JSON.stringify(asked[field])}`);
  const remedy = `ask for the existing values, or change them with ${kind}.update`;
  throw new MusterError(exists, `the ${kind} ${asked['name']} has ${texts.join(' and ')}: ${remedy}`, { status: 409 });
}

/** One text for all values that the service treats as equal. */
function asOne(field: string, value: unknown): string {
  const text = JSON.stringify(value ?? null);
  return field === 'currency' ? text.toUpperCase() : field.endsWith('Minor') ? text.replace(/^"0+(?=\d)/, '"') : text;
}
