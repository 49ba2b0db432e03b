import { integer, moment, optional } from '../http/fields.ts';

/** How often a message is handed out. */
export const maxAttempts = () => integer(1, 100);

/** How long a message waits before it is ready, where its caller says so. */
export const delaySeconds = () => integer(0, 2_592_000);

/** The pauses of a mailbox before a retry: the first, and the longest. */
export const retryDelaySeconds = () => integer(0, 86_400);
export const maxRetryDelaySeconds = () => integer(1, 86_400);

/** What a send and a submit may say of their message. */
export const whenAndHowOften = {
  deadline: optional(moment()),
  delaySeconds: optional(delaySeconds()),
  maxAttempts: optional(maxAttempts()),
};
