import Joi from 'joi';
import { Field, oneOf } from '../declare/field.ts';

/** As stored: `*`, or `,type,prefix.*,`, so that a script finds a type in it with one plain search. */
export function storedTypes(eventTypes: readonly string[]): string {
  return eventTypes.length === 0 ? '*' : `,${eventTypes.join()},`;
}

export const eventTypes = new Field<readonly string[]>({
  lua: 'text',
  read: (value) => (value === '*' ? [] : String(value).slice(1, -1).split(',')),
  schema: () => Joi.array().items(Joi.string()),
});

/** Where there was no answer with a status of success: why. */
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

/** What receivers answer is theirs. */
export const anyNumber = new Field<number>({ lua: 'number', read: Number, schema: () => Joi.number().integer() });
