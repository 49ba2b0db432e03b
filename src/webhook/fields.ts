import Joi from 'joi';
import { isTypePattern } from '../event/filter.ts';
import { says } from '../http/says.ts';

/** Where a destination is: what can be called, whoever lives there. */
export const url = () =>
  Joi.string()
    .max(2048)
    .custom((value: string, helpers) => (isCallable(value) ? value : helpers.error('url')))
    .error(
      says({
        url: '{#label} must be an http or https URL with a host, without a user name or password',
        'string.base': '{#label} must be a string',
        'string.empty': '{#label} must be an http or https URL',
        'string.max': '{#label} must be at most 2,048 characters',
      }),
    )
    .meta({ format: 'uri' });

function isCallable(text: string): boolean {
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return false;
  const parsed = new URL(text);
  return (
    /^https?:$/.test(parsed.protocol) && parsed.hostname !== '' && parsed.username === '' && parsed.password === ''
  );
}

/** Event types or `prefix.*`; none stands for all. */
export const eventTypes = () =>
  Joi.array()
    .max(100)
    .items(
      Joi.string()
        .custom((value: string, helpers) => (isTypePattern(value) ? value : helpers.error('type')))
        .error(says({ type: '{#label} must be an event type like message.sent, or an aggregate like message.*' })),
    )
    .error(
      says({
        'array.base': '{#label} must be a list of event types',
        'array.max': '{#label} must be at most 100 entries',
      }),
    );
