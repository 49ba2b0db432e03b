import Joi from 'joi';
import { says, text } from '../../engine/route/fields.ts';
import type { EventNames } from '../event/names.ts';

/** These events are never sent: a failing receiver would cause the next event for itself. */
const neverSent = /^(destination|delivery)\./;

/** The url of a destination. Whether its address is allowed is checked later. */
export const url = () =>
  text(1, 2048)
    .custom((value: string, helpers) => (isCallable(value) ? value : helpers.error('url')))
    .error(
      says({
        url: '{#label} must begin with http:// or https:// and have a host, no user name, no password and no port 0',
        'string.base': '{#label} must be a string',
        'string.empty': '{#label} must be an http or https URL',
        rule: '{#label} must be at most 2,048 characters, without control characters',
      }),
    )
    .meta({ format: 'uri', pattern: '^https?://' });

function isCallable(address: string): boolean {
  if (!/^https?:\/\//.test(address) || /\s/.test(address) || !URL.canParse(address)) return false;
  const { username, password, port } = new URL(address);
  return username === '' && password === '' && port !== '0';
}

/** Event types or `prefix.*`; an empty list stands for all. */
export const eventTypes = (names: EventNames) =>
  Joi.array()
    .max(100)
    .items(
      Joi.string()
        .custom((value: string, helpers) => {
          if (!names.isPattern(value)) return helpers.error('type');
          return neverSent.test(value) ? helpers.error('neverSent') : value;
        })
        .error(
          says({
            type: '{#label} must be an event type like message.sent, or an aggregate like message.*',
            neverSent: '{#label} must not be of destination or delivery: their events are in the journal, never sent',
          }),
        ),
    )
    .error(
      says({
        'array.base': '{#label} must be a list of event types',
        'array.max': '{#label} must be at most 100 entries',
      }),
    );
