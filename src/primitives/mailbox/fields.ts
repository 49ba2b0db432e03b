import { flag, integer, key, moment, optional } from '../../engine/route/fields.ts';

/** The maximum number of deliveries of a message. */
export const maxAttempts = () => integer(1, 100).description('the most attempts before a message is FAILED').example(5);

/** How long a message waits before it is ready. */
export const delaySeconds = () =>
  integer(0, 2_592_000)
    .description('the seconds for which the message is DELAYED: nobody receives it')
    .meta({ model: 'for how long nobody receives it' });

/** A mailbox's pauses before a retry: the first and the longest. */
export const retryDelaySeconds = () =>
  integer(0, 86_400)
    .description('the pause before the second attempt; it doubles before each further one')
    .meta({ model: 'the first pause before a retry; it doubles' });
export const maxRetryDelaySeconds = () => integer(1, 86_400).description('the longest of those pauses').example(3_600);

/** The fields that order a message among others. */
export const inOrder = {
  priority: optional(integer(0, 9))
    .description(
      'messages of a higher priority are received first, even if those of a lower one then never are; by default 0, the lowest',
    )
    .meta({ model: 'higher ones come first; left out: 0' })
    .example(5),
  key: optional(key())
    .description(
      'the subject of the message, such as a customer; a mailbox with perKey hands out at most perKey messages of one key at once, in order',
    )
    .meta({ model: 'what it is about: in order, perKey of the mailbox at once' })
    .example('customer-42'),
};

/** How long an attempt may take; null for any time. */
export const attemptSeconds = () =>
  integer(1, 86_400)
    .description(
      'the most seconds that an attempt may take, however often its lease is renewed; then it ends as by its lease',
    )
    .example(null);

/** A message's own pauses before a retry, and its own limit of an attempt. */
export const ofAttempts = {
  retryDelaySeconds: optional(retryDelaySeconds())
    .description(
      "the message's own pause before the second attempt, which doubles before each further one; by default the mailbox's",
    )
    .meta({ model: 'its pause before a retry' })
    .example(null),
  maxRetryDelaySeconds: optional(maxRetryDelaySeconds())
    .description(
      "the longest of the message's pauses; by default the mailbox's, or `retryDelaySeconds` if that is more",
    )
    .meta({ model: 'the longest' })
    .example(null),
  attemptSeconds: optional(attemptSeconds()).description(
    "the most seconds that an attempt may take, however often its lease is renewed; then it ends as by its lease. By default the mailbox's",
  ),
};

/** The fields that a model leaves to the mailbox. */
export const leftToMailbox = ['retryDelaySeconds', 'maxRetryDelaySeconds', 'attemptSeconds'];

/** The fields that send and submit share. */
export const whenAndHowOften = {
  deadline: optional(moment())
    .description('when the message expires unless it has ended by then; must be in the future')
    .meta({ model: 'when it expires unless it has ended' }),
  delaySeconds: optional(delaySeconds()),
  maxAttempts: optional(maxAttempts())
    .description("the most attempts before the message is FAILED; by default the mailbox's")
    .meta({ model: 'before it is FAILED' }),
  ...ofAttempts,
  ...inOrder,
};

/** How many messages of one key may be active at once; null for any number. */
export const perKey = () =>
  integer(1, 1_000)
    .allow(null)
    .description(
      'how many messages of one key may be READY, CLAIMED or between attempts at once; the others are BLOCKED and follow in order; null allows any number',
    )
    .meta({ model: 'so many of one key at once; left out: any number' })
    .example(1);

/** Whether a mailbox tells of progress. */
export const progressEvents = () =>
  flag()
    .description(
      'whether a renewal with progress emits message.progressed, at most one a second for each message and without the progress itself',
    )
    .meta({ model: 'true: progress is an event' })
    .example(false);
