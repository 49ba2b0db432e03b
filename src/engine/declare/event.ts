import Joi from 'joi';
import { counter, type Fields, id, text, time } from './field.ts';
import { exactly, nested } from './record.ts';

/**
 * An event type. Its payload has the id of its aggregate (such as `messageId`), then these fields. With `scopeId` among them
 * the event belongs to a scope; only some events of the type do if it is optional. `traceparent` is not part of the payload but a member of the event.
 */
export interface EventDeclaration {
  readonly type: string;
  /** The part of the type before the dot. */
  readonly aggregate: string;
  readonly payload: Fields;
  readonly isScoped: boolean;
  readonly isTraced: boolean;
  /** Whether the space counts it, in `events:<type>` of its record. */
  readonly isCounted: boolean;
  /** The whole event, as the API and webhooks show it. Built at first use: only OpenAPI and tests need it. */
  readonly schema: Joi.ObjectSchema;
}

/** Declared fields that are members of the event itself. */
export const ofEvent: ReadonlySet<string> = new Set(['scopeId', 'traceparent']);

/** The payload's member for the caller (lua/lib/caller.lua). */
export const actorName = 'actor';

class Counted {
  readonly payload: Fields;
  constructor(payload: Fields) {
    this.payload = payload;
  }
}

/** The payload of an event type that the space counts. */
export const counted = (payload: Fields): Counted => new Counted(payload);

/** The payload of an event that names its actor. */
export const acted = <F extends Fields>(payload: F) => ({
  ...payload,
  [actorName]: text()
    .optional()
    .means(
      'who did it: the id of the API key, with the holder that it is bound to after a blank; `oidc:` and the subject of a token; or `link`. Missing if nobody asked for it, such as at the end of a run',
    )
    .example('0190a1b2-0000-7000-8000-3a2b1c0d9e8f'),
});

export function events(payloads: Readonly<Record<string, Fields | Counted>>): readonly EventDeclaration[] {
  return Object.entries(payloads).map(([type, declared]) => {
    const isCounted = declared instanceof Counted;
    const payload = isCounted ? declared.payload : declared;
    const aggregate = type.slice(0, type.indexOf('.'));
    const isScoped = 'scopeId' in payload;
    const isTraced = 'traceparent' in payload;
    const secret = Object.entries(payload).find(([, { special }]) => special.isSecret)?.[0];
    if (secret !== undefined) throw new Error(`${type}: ${secret} is a secret`);
    const { traceparent, ...shown } = payload;
    const members = { [`${aggregate}Id`]: id(), ...shown };
    let schema: Joi.ObjectSchema | undefined;
    const build = (): Joi.ObjectSchema =>
      exactly({
        eventId: id().means("the event's id, unique for ever: a repeated event has the same").schema,
        type: Joi.valid(type).description('the type, which determines the payload'),
        aggregate: Joi.valid(aggregate).description('the kind of object that it happened to'),
        aggregateId: id().means('the object that it happened to').schema,
        scopeId: isScoped ? (payload['scopeId']?.special.isOptional ? id().orNull() : id()).schema : Joi.valid(null),
        occurredAt: time().means("when it happened, by the store's clock").schema,
        requestId: text()
          .orNull()
          .means('the request that caused it, or null if it happened by itself at its time')
          .example('request-4711').schema,
        traceparent: traceparent?.schema ?? Joi.valid(null),
        payload: exactly(
          Object.fromEntries(Object.entries(members).map(([name, field]) => [name, field.schema])),
        ).description('the state of the object at that time'),
      }).meta({ component: `${pascalCase(type)}Event` });
    return {
      type,
      aggregate,
      payload,
      isScoped,
      isTraced,
      isCounted,
      get schema() {
        schema ??= build();
        return schema;
      },
    };
  });
}

/** `MessageSent` for `message.sent`. */
export const pascalCase = (dotted: string): string =>
  dotted
    .split(/[._]/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');

/** The census of counted events: how often each has happened since the space was created. */
export function eventCounts(all: readonly EventDeclaration[]): Fields {
  const counted = all.filter(({ isCounted }) => isCounted);
  if (counted.length === 0) return {};
  return {
    events: nested(Object.fromEntries(counted.map(({ type }) => [type, counter(countOf(type))]))).means(
      'the number of events of these types',
    ),
  };
}

/** The field of the space's record that counts a type. */
export const countOf = (type: string): string => `events:${type}`;

/** Any event, distinguished by its type. openapi/events.ts turns this into OpenAPI's union. */
export function eventUnion(all: readonly EventDeclaration[]): Joi.Schema {
  const byType = new Map(all.map((event) => [event.type, event]));
  return Joi.any()
    .custom((value: { type?: string }, helpers) => {
      const result = byType.get(String(value?.type))?.schema.validate(value) ?? {
        error: new Error('unknown event type'),
      };
      return result.error ? helpers.message({ custom: result.error.message }) : value;
    })
    .meta({ component: 'Event' });
}
