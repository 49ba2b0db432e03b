import { integer, matching } from '../call/fields.ts';
import { Cron } from './cron.ts';
import { Zone } from './zone.ts';

export const cron = () =>
  matching(
    (value) => Cron.of(value) !== undefined,
    'must be a cron expression of five fields, or six with seconds, that comes at some time, like 0 9 * * 1-5',
    { description: 'five fields, or six with seconds first, without H' },
  );

export const timezone = () =>
  matching((value) => Zone.of(value) !== undefined, 'must be an IANA time zone, like Europe/Berlin');

export const everySeconds = () => integer(5, 31_536_000);
