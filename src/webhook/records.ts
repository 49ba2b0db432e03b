import { iso, isoOrNull } from '../declare/moment.ts';
import type { Values } from '../declare/value.ts';
import { uuidOf } from '../event/record.ts';

/** `eventTypes` as it is stored, so that a script finds a type in it with one plain search. */
export function storedTypes(eventTypes: readonly string[]): string {
  return eventTypes.length === 0 ? '*' : `,${eventTypes.join()},`;
}

/** A destination: its fields in the script's order. */
export function destinationRecord(values: Values): object {
  const [url, eventTypes, state, disabledReason, consecutiveFailures, lastSuccessAt, createdAt, id] = values;
  return {
    id,
    url,
    eventTypes: eventTypes === '*' ? [] : String(eventTypes).slice(1, -1).split(','),
    state,
    disabledReason,
    consecutiveFailures: Number(consecutiveFailures),
    lastSuccessAt: isoOrNull(lastSuccessAt),
    createdAt: iso(createdAt),
  };
}

/** Rows have a tail of their own: events of the same moment must not have their ids. */
function rowTail(spaceId: string): string {
  return spaceId.slice(24, 32);
}

/** An attempt's row: its entry id, then its fields in the script's order. */
export function deliveryRecord(spaceId: string, values: Values): object {
  const [entryId, destinationId, eventId, eventType, attempt, trigger, state] = values;
  const [responseStatus, errorCode, durationMs, attemptedAt, nextAttemptAt] = values.slice(7);
  return {
    id: uuidOf(String(entryId), rowTail(spaceId)),
    destinationId,
    eventId,
    eventType,
    attempt: Number(attempt),
    trigger,
    state,
    responseStatus: responseStatus === '' ? null : Number(responseStatus),
    errorCode: errorCode === '' ? null : errorCode,
    durationMs: Number(durationMs),
    attemptedAt: iso(attemptedAt),
    nextAttemptAt: nextAttemptAt === '' ? null : iso(nextAttemptAt),
  };
}
