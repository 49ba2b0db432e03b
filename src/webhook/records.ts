import Joi from 'joi';
import { Field, id, number, oneOf, raw, text, time } from '../declare/field.ts';
import { momentOfId } from '../declare/moment.ts';
import { record } from '../declare/record.ts';

/** As stored: `*`, or `,type,prefix.*,`, so that a script finds a type in it with one plain search. */
export function storedTypes(eventTypes: readonly string[]): string {
  return eventTypes.length === 0 ? '*' : `,${eventTypes.join()},`;
}

const eventTypes = new Field<readonly string[]>({
  lua: 'text',
  read: (value) => (value === '*' ? [] : String(value).slice(1, -1).split(',')),
  schema: () => Joi.array().items(Joi.string()),
});

export const disabledReason = oneOf('REQUESTED', 'GONE', 'FAILING');

export const Destination = record('Destination', {
  id: id(),
  url: text(),
  eventTypes,
  state: oneOf('ACTIVE', 'DISABLED'),
  disabledReason: disabledReason.orNull(),
  consecutiveFailures: number(),
  lastSuccessAt: time().orNull(),
  createdAt: time().of((get) => momentOfId(get('id'))),
  signingSecret: text(/^whsec_[0-9A-Za-z+/]{43}=$/).secret(),
  /** Signs too until then. */
  previousSecret: text().orNull().secret(),
  previousSecretUntil: time().orNull().internal(),
  /** How far it has read the journal, and the entries added up to there. */
  position: text().internal(),
  readCount: number().internal(),
  failingSince: time().orNull().internal(),
});

/** As it is shown where its secret is new. */
export const NewDestination = Destination.with('NewDestination', {
  signingSecret: text(/^whsec_[0-9A-Za-z+/]{43}=$/),
});

/** Where there was no answer with a status of success: why. */
const errorCode = oneOf(
  'STATUS',
  'REDIRECTED',
  'TIMEOUT',
  'CONNECTION_REFUSED',
  'CONNECTION_FAILED',
  'NAME_NOT_RESOLVED',
  'TLS_FAILED',
  'TARGET_FORBIDDEN',
  'INTERRUPTED',
);

/** What receivers answer is theirs. */
const anyNumber = new Field<number>({ lua: 'number', read: Number, schema: () => Joi.number().integer() });

/** One attempt; '' is stored for null. */
export const Delivery = record('Delivery', {
  id: id(),
  destinationId: id(),
  eventId: id(),
  eventType: text(),
  attempt: number(1),
  trigger: oneOf('SCHEDULED', 'MANUAL', 'TEST'),
  state: oneOf('SUCCEEDED', 'FAILED'),
  responseStatus: anyNumber.orNull(),
  errorCode: errorCode.orNull(),
  durationMs: number(),
  attemptedAt: time(),
  nextAttemptAt: time().orNull(),
});

/** What is to be sent on request. entry: of the journal; null for a test. */
export const Sending = record('Sending', {
  at: number(),
  url: text(),
  secrets: raw<string[]>(),
  eventId: id(),
  destinationId: id(),
  entry: raw(),
});

/** An attempt that is due. */
export const DueAttempt = record('DueAttempt', { destinationId: id(), entryId: text(), number: number(1) });
