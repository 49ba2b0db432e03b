import { iso } from '../declare/moment.ts';
import { Raw } from '../declare/raw.ts';
import type { Value } from '../declare/value.ts';

/**
 * An event id is a UUIDv7 that maps one to one, in order, to the stream entry's id: its 48 bits of time are the
 * entry's milliseconds, its next 42 random bits the entry's sequence number; the last 32 are the space's own, so
 * that two spaces never issue the same id.
 */
function eventIdOf(spaceId: string, entryId: string): string {
  return uuidOf(entryId, spaceId.slice(-8));
}

/** The UUIDv7 that stands for a stream entry; `tail`: its last eight digits. */
export function uuidOf(entryId: string, tail: string): string {
  const [ms = '0', sequence = '0'] = entryId.split('-');
  const time = Number(ms).toString(16).padStart(12, '0');
  const bits = BigInt(sequence);
  const high = (bits >> 30n).toString(16).padStart(3, '0').slice(-3);
  const middle = (0x8000n | ((bits >> 16n) & 0x3fffn)).toString(16);
  const low = (bits & 0xffffn).toString(16).padStart(4, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${high}-${middle}-${low}${tail}`;
}

/** An entry of the journal as filters see it. */
export interface Entry {
  readonly entryId: string;
  readonly type: string;
  readonly aggregate: string;
  readonly aggregateId: string;
  readonly scopeId: string;
  /** The event's JSON, made once for all who get it. */
  readonly json: Raw;
}

const entryForm = /^(\S+) (\S+) (\S+)(?: (.*))?$/s;
const memberForm = /(\w+)=("[^"]*"|\S+)/g;
const isJson = /^(?:\d+|null|true|false|".*")$/s;

/** The members of a payload as JSON, from the form that redis/lua-events.ts writes them in. */
function membersJson(members: string, aggregateId: string): string[] {
  return Array.from(members.matchAll(memberForm), ([, name, value = '']) =>
    isJson.test(value) ? `"${name}":${value}` : `"${name}":"${value === '=' ? aggregateId : value}"`,
  );
}

/** What a stream entry says, `[id, [type, 'aggregateId scopeId requestId members']]`; '' where there is none. */
export function readEntry(entry: Value): {
  entryId: string;
  type: string;
  aggregateId: string;
  scopeId: string;
  requestId: string;
  members: string;
} {
  const [entryId, [type, text]] = entry as [string, [string, string]];
  const [, aggregateId = '', scopeId = '', requestId = '', members = ''] = entryForm.exec(text) ?? [];
  return {
    entryId,
    type,
    aggregateId,
    scopeId: scopeId === '~' ? '' : scopeId,
    requestId: requestId === '~' ? '' : requestId,
    members,
  };
}

/** An event as it is answered, from a stream entry. */
export function eventRecord(spaceId: string, entry: Value): object {
  const { entryId, type, aggregateId, scopeId, requestId, members } = readEntry(entry);
  const aggregate = type.slice(0, type.indexOf('.'));
  const payload = [
    `"${aggregate}Id":"${aggregateId}"`,
    ...(scopeId !== '' && aggregate !== 'scope' ? [`"scopeId":"${scopeId}"`] : []),
    ...membersJson(members, aggregateId),
  ];
  return {
    eventId: eventIdOf(spaceId, entryId),
    type,
    aggregate,
    aggregateId,
    scopeId: scopeId || null,
    occurredAt: iso(entryId.split('-', 1)[0]),
    requestId: requestId || null,
    payload: new Raw(`{${payload.join(',')}}`),
  };
}
