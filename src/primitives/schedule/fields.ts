import Joi from 'joi';
import { integer, matching, says } from '../../engine/route/fields.ts';
import { Cron } from './cron.ts';
import { Zone } from './zone.ts';

const rule = '{#label} must be a cron expression of five fields, or six with seconds, like 0 9 * * 1-5';

export const cron = (): Joi.AnySchema<string> =>
  Joi.string()
    .custom((value: string, helpers) => {
      const mistake = Cron.mistakeIn(value);
      return mistake === undefined ? value : helpers.error('cron', { mistake });
    })
    .error(says({ cron: '{#label} {#mistake}', 'string.base': rule, 'string.empty': rule }))
    .meta({ description: 'five fields, or six with seconds first, without H' }) as unknown as Joi.AnySchema<string>;

export const timezone = () =>
  matching((value) => Zone.of(value) !== undefined, 'must be an IANA time zone, like Europe/Berlin');

export const everySeconds = () => integer(5, 31_536_000);
