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
  /** The whole event, as the API and webhooks show it. */
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
    const schemas = Object.fromEntries(Object.entries(members).map(([name, field]) => [name, field.schema]));
    const schema = exactly({
      eventId: id().schema,
      type: Joi.valid(type),
      aggregate: Joi.valid(aggregate),
      aggregateId: id().schema,
      scopeId: isScoped ? id().schema : Joi.valid(null),
      occurredAt: time().schema,
      requestId: text().orNull().schema,
      payload: exactly(schemas),
    }).meta({ component: type });
    return { type, aggregate, payload, isScoped, schema };
  });
}

/** Any event, told apart by its type. http/openapi/events.ts makes OpenAPI's union of them. */
export function eventUnion(all: readonly EventDeclaration[]): Joi.Schema {
  const byType = new Map(all.map((event) => [event.type, event.schema]));
  return Joi.any()
    .custom((value: { type?: string }, helpers) => {
      const result = byType.get(String(value?.type))?.validate(value) ?? { error: new Error('unknown event type') };
      return result.error ? helpers.message({ custom: result.error.message }) : value;
    })
    .meta({ component: 'Event' });
}
