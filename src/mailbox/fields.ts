import { integer, moment, optional } from '../call/fields.ts';

/** How often a message is handed out. */
export const maxAttempts = () => integer(1, 100).description('how often a message is handed out before it is FAILED');

/** How long a message waits before it is ready, where its caller says so. */
export const delaySeconds = () =>
  integer(0, 2_592_000).description('for how many seconds nobody receives the message: it is DELAYED');

/** The pauses of a mailbox before a retry: the first, and the longest. */
export const retryDelaySeconds = () =>
  integer(0, 86_400).description('the pause before the second attempt; it doubles before each further one');
export const maxRetryDelaySeconds = () => integer(1, 86_400).description('the longest of those pauses');

/** What a send and a submit may say of their message. */
export const whenAndHowOften = {
  deadline: optional(moment()).description(
    'when the message expires unless it has ended before; must lie in the future',
  ),
  delaySeconds: optional(delaySeconds()),
  maxAttempts: optional(maxAttempts()).description(
    "how often the message is handed out before it is FAILED; left out: the mailbox's at this time",
  ),
};
