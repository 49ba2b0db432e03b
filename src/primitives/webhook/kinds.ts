import Joi from 'joi';
import { Field, oneOf } from '../../engine/declare/field.ts';

/** The stored form: `*`, or `,type,prefix.*,`, in which a script finds a type by a plain text search. */
export function storedTypes(eventTypes: readonly string[]): string {
  return eventTypes.length === 0 ? '*' : `,${eventTypes.join()},`;
}

export const eventTypes = new Field<readonly string[]>({
  lua: 'text',
  read: (value) => (value === '*' ? [] : String(value).slice(1, -1).split(',')),
  schema: () => Joi.array().items(Joi.string()),
});

/** Why an attempt got no successful response. */
export const errorCode = oneOf(
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

/** A response status is whatever the receiver sends. */
export const anyNumber = new Field<number>({ lua: 'number', read: Number, schema: () => Joi.number().integer() });
