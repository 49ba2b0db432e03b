import type { Answered, Fields } from './field.ts';
import { Many, One } from './record.ts';
import type { Reply, Value } from './value.ts';

/** A member of a script's reply, declared in its header in order: `@reply nextCursor barriers:barrier[]`. */
export interface ReplyMember {
  readonly name: string;
  /** A record, or a list of records; absent for a value. */
  readonly record?: string;
  readonly isList?: boolean;
  /** For a value in last place: if it is absent, the reply ends before it. */
  readonly isOptional?: true;
}

/** Parses `name:record[]`, `name` or `name?`. */
export function readMember(text: string): ReplyMember {
  const [, name = '', record, list, optional] = /^(\w+)(?::(\w+)(\[\])?|(\?))?$/.exec(text) ?? [];
  if (name === '') throw new Error(`@reply ${text}: it must be name, name?, name:record or name:record[]`);
  return {
    name,
    ...(record !== undefined && { record, isList: list !== undefined }),
    ...(optional !== undefined && { isOptional: true }),
  };
}

/** Whether the reply is a single record. Its values are then sent without a list of their own, which would cost the store. */
export function isRow(members: readonly ReplyMember[]): boolean {
  return members.length === 1 && members[0]?.record !== undefined && members[0].isList !== true;
}

/**
 * Whether the reply is a list of records. It is then sent as their number, followed by the values of one record after the
 * other, as each nested list costs the store as much as ten values.
 */
export function isRows(members: readonly ReplyMember[]): boolean {
  return members.length === 1 && members[0]?.isList === true;
}

/** Splits records sent flat (`isRows`) into lists of values. */
function rowsIn([count, ...values]: Reply, field: Fields[string] | undefined): Reply {
  if (!(field instanceof Many)) throw new Error('is no list of records');
  const { width } = field.record;
  if (values.length !== Number(count) * width) throw new Error(`has ${values.length} values for ${count} records`);
  return Array.from({ length: Number(count) }, (_, index) => values.slice(index * width, (index + 1) * width));
}

/** Reads a script's reply by name; undefined if the reply is empty. */
export type ReplyReader<F extends Fields> = (values: Reply) => Answered<F> | undefined;

/**
 * Creates the reader of a script's replies. Throws if the script's reply does not have exactly these members, so that no
 * process starts with such a bug.
 */
export function replyReader<F extends Fields>(
  script: string,
  members: readonly ReplyMember[],
  shape: F,
): ReplyReader<F> {
  const says = (list: readonly string[]) => list.toSorted().join(' ') || 'nothing';
  const replied = says(members.map(memberText));
  const read = says(Object.entries(shape).map(([name, field]) => memberText({ name, ...kindOf(field) })));
  if (replied !== read) throw new Error(`${script} replies with ${replied}, but what is read of it is ${read}`);
  const fields = members.map(({ name }) => [name, shape[name] as Fields[string]] as const);
  const [row, rows] = [isRow(members), isRows(members)];
  const valueAt = (values: Reply, index: number): Value =>
    row ? values : rows ? rowsIn(values, fields[0]?.[1]) : (values[index] ?? null);
  return (values) => {
    if (values.length === 0 && fields.length > 0) return undefined;
    const reply: Record<string, unknown> = {};
    fields.forEach(([name, field], index) => {
      try {
        reply[name] = field.read(valueAt(values, index));
      } catch (error) {
        throw new Error(`${script}: ${name} ${(error as Error).message}`);
      }
    });
    return reply as Answered<F>;
  };
}

function kindOf(field: Fields[string]): Omit<ReplyMember, 'name'> {
  if (field instanceof One) return { record: field.record.luaName, isList: false };
  return field instanceof Many ? { record: field.record.luaName, isList: true } : {};
}

/** The member as written in `@reply`. */
export function memberText({ name, record, isList }: ReplyMember): string {
  return record === undefined ? name : `${name}:${record}${isList ? '[]' : ''}`;
}

/** The head at the start of every reply and refusal of lib/call: now, wake, replayed, space quota, left, org quota, left. */
export interface ReplyHead {
  readonly now: number;
  /** A due time to announce to the index of organizations; '' for none. */
  readonly wake: string;
  readonly replayed: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** Who made the call, if it has named its actor, as the content of a JSON string (lua/lib/caller.lua). */
  readonly actor?: string;
}

/** Parses the head, and builds its rate headers (docs/reference.md, "Requests"). */
export function readHead(head: string): ReplyHead {
  const [now, wake = '', replayed = '', spaceQuota = '', spaceLeft, orgQuota = '', orgLeft, ...actor] = head.split(',');
  const at = Number(now);
  const reset = 60 - Math.floor((at % 60_000) / 1000);
  let policy = '';
  let rate = '';
  if (spaceQuota !== '') {
    policy = `"space";q=${spaceQuota};w=60`;
    rate = `"space";r=${spaceLeft};t=${reset}`;
  }
  if (orgQuota !== '') {
    policy += `${policy && ', '}"org";q=${orgQuota};w=60`;
    rate += `${rate && ', '}"org";r=${orgLeft};t=${reset}`;
  }
  const headers: Record<string, string> = {};
  if (policy !== '') {
    headers['RateLimit-Policy'] = policy;
    headers['RateLimit'] = rate;
  }
  if (replayed !== '') headers['Idempotent-Replayed'] = 'true';
  const result = { now: at, wake, replayed: replayed !== '', headers };
  return actor.length === 0 ? result : { ...result, actor: actor.join(',') };
}
