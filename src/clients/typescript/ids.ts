import { isRefusal, MusterError } from './error.ts';
import type { Calls, named } from './generated/calls.ts';
import type { CallOptions } from './types.ts';

/** Kinds of records whose names are unique in their space. */
type Unique = (typeof named)[number];
/** Kinds of records that other calls take by name. */
type Named = Exclude<Unique, 'schedule'>;
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

type Fields = Readonly<Record<string, unknown>>;
type Call = (fields: Fields, options: CallOptions) => Promise<Fields>;

interface Making {
  readonly create: Call;
  readonly all: (filter: { name: unknown }, options: CallOptions) => AsyncIterable<Fields>;
  /** Only of schedules. */
  readonly update?: Call;
}

/**
 * Finds or creates the record with this name. If it differs in the fields asked for, a schedule is changed, and any other
 * record is refused.
 */
export async function ensure(
  kind: Unique | 'mailbox',
  calls: Making,
  asked: Fields,
  options: CallOptions,
): Promise<Fields> {
  const record =
    kind === 'mailbox'
      ? await calls.create({ ...asked, unique: true }, options)
      : await made(kind, calls, asked, options);
  const fields = differing(asked, record);
  if (fields.length === 0) return record;
  if (kind === 'schedule' && calls.update) {
    const changes = Object.fromEntries(fields.map((field) => [field, asked[field]]));
    return calls.update({ scheduleId: record['id'], ...changes }, { ...options, idempotencyKey: undefined });
  }
  const code = (kind === 'mailbox' ? 'MAILBOX_CONFLICT' : existsCode(kind)) as MusterError['code'];
  throw new MusterError(code, driftOf(kind, asked, record, fields), { status: 409 });
}

const existsCode = (kind: Unique): string => `${kind.toUpperCase()}_EXISTS`;

async function made(kind: Unique, { create, all }: Making, asked: Fields, options: CallOptions): Promise<Fields> {
  const find = async (): Promise<Fields | undefined> => {
    for await (const record of all({ name: asked['name'] }, options)) return record;
    return undefined;
  };
  let record = await find();
  try {
    record ??= await create(asked, options);
  } catch (error) {
    // Somebody else has created it meanwhile.
    if (isRefusal(error, existsCode(kind) as MusterError['code'])) record = await find();
    if (!record) throw error;
  }
  return record;
}

/** The fields asked for in which a record differs. */
function differing(asked: Fields, record: Fields): string[] {
  // A pool's `unique` is not a field of the record.
  const isGiven = (field: string): boolean => field in record && (asked[field] ?? null) !== null;
  return Object.keys(asked).filter(
    (field) => isGiven(field) && asOne(field, asked[field]) !== asOne(field, record[field]),
  );
}

function driftOf(kind: string, asked: Fields, record: Fields, fields: readonly string[]): string {
  const texts = fields.map((field) => `${field} ${JSON.stringify(record[field])}, not ${JSON.stringify(asked[field])}`);
  const remedy = `ask for the existing values, or change them with ${kind}.update`;
  return `the ${kind} ${asked['name']} has ${texts.join(' and ')}: ${remedy}`;
}

/** Differences that were printed, by client. */
const printed = new WeakMap<object, Set<string>>();

/** Prints in which fields an existing mailbox differs from those asked for, each difference once. */
export function warnOfDrift(muster: object, asked: Fields, record: Fields): void {
  const known = printed.get(muster) ?? new Set();
  printed.set(muster, known);
  for (const field of differing(asked, record)) {
    const text = driftOf('mailbox', asked, record, [field]);
    if (!known.has(text)) console.warn(`muster: ${text}`);
    known.add(text);
  }
}

/** One text for all values that the service treats as equal. */
function asOne(field: string, value: unknown): string {
  const text = JSON.stringify(value ?? null);
  if (field === 'mailboxId' || field === 'scopeId') return text.toLowerCase();
  return field === 'currency' ? text.toUpperCase() : field.endsWith('Minor') ? text.replace(/^"0+(?=\d)/, '"') : text;
}
