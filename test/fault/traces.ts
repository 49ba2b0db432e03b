import { traceOf } from '../support/trace.ts';
import type { Event } from './journal.ts';

/** Events of messages without the trace of the request that sent the message. */
export function untraced(events: readonly Event[]): string[] {
  const sent = new Map<string, string | null>();
  return events.flatMap(({ type, aggregateId, requestId, traceparent }) => {
    if (!type.startsWith('message.')) return [];
    if (type === 'message.sent') {
      const { traceparent: given = traceparent } = traceOf(requestId ?? '');
      sent.set(aggregateId, given);
    }
    return traceparent === sent.get(aggregateId) ? [] : [`${type} of ${aggregateId} has the trace ${traceparent}`];
  });
}
