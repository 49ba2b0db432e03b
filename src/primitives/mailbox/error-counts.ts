import { number, text, time } from '../../engine/declare/field.ts';
import { exactly, many, record } from '../../engine/declare/record.ts';
import { fields, utcDay } from '../../engine/route/fields.ts';
import { type Route, read } from '../../engine/route/route.ts';

/** More would be hard to read. */
const maxErrors = 20;

export const ErrorCount = record('ErrorCount', {
  error: text()
    .means('the error without ids and numbers, for which `…` stands; at most 200 bytes')
    .example('timeout after … ms of order …'),
  count: number(1).means('how many attempts failed with it').example(4_869),
  lastAt: time().means('when it came last, to the second').example('2026-01-31T12:00:00.000Z'),
});

/** The most frequent errors of a mailbox. */
export const errorsRoute: Route = read({
  path: '/mailboxes/:mailboxId/errors',
  call: 'mailbox.errors',
  rate: 'operator',
  summary: 'The 20 most frequent errors of a mailbox on a UTC day',
  description:
    'Every attempt counts that a nack with an `error` ended, unless it was untried, or whose lease ended. Errors that differ ' +
    'only in ids and numbers are one. A day keeps 100: another one takes the place of the rarest, and its count, so that ' +
    'the counts of rare errors may be too high if there are more. The last seven days are kept; other days have none.',
  query: fields({
    date: utcDay().optional().description('the UTC day; by default today').example('2026-01-31'),
  }),
  success: {
    200: exactly({ errors: many(ErrorCount, maxErrors).means('the errors, the most frequent first').schema }),
  },
  refuses: ['MAILBOX_NOT_FOUND'],
  script: 'mailbox/errors',
  args: ({ query: { date } }) => ({ day: date ?? '', maxErrors }),
  reply: { errors: many(ErrorCount, maxErrors) },
});
