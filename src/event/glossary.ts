import type { Glossary } from '../http/openapi/glossary.ts';

/** What the fields of events mean, and those of the calls that read them. */
export const eventGlossary: Glossary = {
  eventId: "the event's id, unique for ever: whoever has seen it may drop a repetition",
  type: 'what happened; it determines the payload',
  types: 'only these types, comma-separated; `message.*` for all of a kind',
  aggregate: 'the kind of object that it happened to',
  'event.watch.aggregate': 'only of these kinds, comma-separated, or of one object: `message:<id>`',
  aggregateId: 'the id of the object that it happened to',
  occurredAt: 'when it happened, by the clock of the store',
  requestId: 'the request that did it; null: the passing of time did',
  events: 'the events, oldest first',
  'Census.events': 'how often each of these types has happened in the space',
  'event.list.nextCursor': 'the cursor of what comes after; never null',
  'event.watch.nextCursor': 'the cursor of what comes after; never null',
  'event.list.cursor': 'the nextCursor of an earlier page; left out: the oldest event; `latest`: from now on',
  'event.watch.cursor': 'the nextCursor of an earlier page; left out: the oldest event; `latest`: from now on',
};
