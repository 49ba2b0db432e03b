import type { Glossary } from '../http/openapi/glossary.ts';

/** What the fields of limits, usage and spaces mean. */
export const spaceGlossary: Glossary = {
  limitsId: 'the id of the space that has the limits',
  spaces: 'the spaces of this page',
  maxArmedTimers: 'the most deadlines, delays and settleBy moments that are still ahead',
  maxBacklog: 'the most messages of the space that have not ended',
  maxLeaseSeconds: 'the longest lease that a claim may ask for',
  maxPayloadBytes: 'the most bytes of a payload, input or result, as compact JSON',
  maxPendingWaiters: 'the most who wait for units at once',
  requestsPerMinute: 'the most requests of a UTC minute; recovery calls are counted but never refused',
  days: 'one for each UTC day',
  date: 'the UTC day',
  from: 'the first UTC day, inclusive',
  to: 'the last UTC day, inclusive',
  syscalls: 'operations, successful renewals, replays and receives that found nothing',
  operations: 'what counts towards the plan: the sum of byCall',
  byCall: 'operations by the name of their call',
  retainedBytes: 'what was kept at the end of the day, payloads and journal',
};
