import { iso } from '../../engine/declare/field.ts';
import { Raw } from '../../engine/declare/raw.ts';
import type { Value } from '../../engine/declare/value.ts';

/**
 * An event's id is a UUIDv7 in the order of the stream: its 48 bits of time are the entry's milliseconds, the next 42 bits
 * the entry's sequence number. The last 32 bits are from the space's id, so that two spaces never issue the same id.
 */
function eventIdOf(spaceId: string, entryId: string): string {
  return uuidOf(entryId, spaceId.slice(-8));
}

/** The UUIDv7 of a stream entry. tail: its last eight digits. */
export function uuidOf(entryId: string, tail: string): string {
  const [ms = '0', sequence = '0'] = entryId.split('-');
  const time = Number(ms).toString(16).padStart(12, '0');
  const bits = BigInt(sequence);
  const high = (bits >> 30n).toString(16).padStart(3, '0').slice(-3);
  const middle = (0x8000n | ((bits >> 16n) & 0x3fffn)).toString(16);
  const low = (bits & 0xffffn).toString(16).padStart(4, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${high}-${middle}-${low}${tail}`;
}

/** A journal entry as filters see it. */
export interface Entry {
  readonly entryId: string;
  readonly type: string;
  readonly aggregate: string;
  readonly aggregateId: string;
  readonly scopeId: string;
  /** The event's JSON, serialized once for all watches. */
  readonly json: Raw;
}

const entryForm = /^(\S+) (\S+) (\S+)(?: (.*))?$/s;
const memberForm = /(\w+)=("[^"]*"|\S+)/g;
const isJson = /^(?:\d+|null|true|false|\[[\d,]*\]|".*")$/s;

/** The members of a payload as JSON, from the format that redis/lua-events.ts writes. */
function membersJson(members: string, aggregateId: string): string[] {
  return Array.from(members.matchAll(memberForm), ([, name, value = '']) =>
    isJson.test(value) ? `"${name}":${value}` : `"${name}":"${value === '=' ? aggregateId : value}"`,
  );
}

const traceForm = /(?:^| )traceparent=(\S+)$/;

/** Parses a stream entry, `[id, [type, 'aggregateId scopeId requestId members']]`; absent parts are ''. */
export function readEntry(entry: Value): {
  entryId: string;
  type: string;
  aggregateId: string;
  scopeId: string;
  requestId: string;
  traceparent: string;
  members: string;
} {
  const [entryId, [type, text]] = entry as [string, [string, string]];
  const [, aggregateId = '', scopeId = '', requestId = '', rest = ''] = entryForm.exec(text) ?? [];
  const [trace = '', traceparent = ''] = traceForm.exec(rest) ?? [];
  return {
    entryId,
    type,
    aggregateId,
    scopeId: scopeId === '~' ? '' : scopeId,
    requestId: requestId === '~' ? '' : requestId,
    traceparent,
    members: rest.slice(0, rest.length - trace.length),
  };
}

/** The event of a stream entry, as the API returns it. */
export function eventRecord(spaceId: string, entry: Value) {
  const { entryId, type, aggregateId, scopeId, requestId, traceparent, members } = readEntry(entry);
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
    traceparent: traceparent || null,
    payload: new Raw(`{${payload.join(',')}}`),
  };
}
