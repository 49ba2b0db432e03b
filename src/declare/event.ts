import Joi from 'joi';
import { type Fields, id, text, time } from './field.ts';
import { exactly } from './record.ts';

/**
 * An event type. Its payload has the id of its aggregate (`messageId`), then these fields; with `scopeId` among them the
 * event belongs to a scope.
 */
export interface EventDeclaration {
  readonly type: string;
  /** The part of the type before the dot. */
  readonly aggregate: string;
  readonly payload: Fields;
  readonly isScoped: boolean;
  /** The whole event, as the API and webhooks show it. Built at first use: only OpenAPI and tests need it. */
  readonly schema: Joi.ObjectSchema;
}

/** Declares the events of a room, by type. */
export function events(payloads: Readonly<Record<string, Fields>>): readonly EventDeclaration[] {
  return Object.entries(payloads).map(([type, payload]) => {
    const aggregate = type.slice(0, type.indexOf('.'));
    const isScoped = 'scopeId' in payload;
    const secret = Object.entries(payload).find(([, { special }]) => special.isSecret)?.[0];
    if (secret !== undefined) throw new Error(`${type}: ${secret} is a secret`);
    const members = { [`${aggregate}Id`]: id(), ...payload };
    let schema: Joi.ObjectSchema | undefined;
    const build = (): Joi.ObjectSchema =>
      exactly({
        eventId: id().schema,
        type: Joi.valid(type),
        aggregate: Joi.valid(aggregate),
        aggregateId: id().schema,
        scopeId: isScoped ? id().schema : Joi.valid(null),
        occurredAt: time().schema,
        requestId: text().orNull().schema,
        payload: exactly(Object.fromEntries(Object.entries(members).map(([name, field]) => [name, field.schema]))),
      }).meta({ component: type });
    return {
      type,
      aggregate,
      payload,
      isScoped,
      get schema() {
        schema ??= build();
        return schema;
      },
    };
  });
}

/** Any event, told apart by its type. http/openapi/events.ts makes OpenAPI's union of them. */
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
