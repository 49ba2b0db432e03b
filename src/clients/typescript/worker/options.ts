import type { AskedQuestion } from './asking.ts';
import type { ClaimLost } from './errors.ts';
import type { StartRate } from './rate.ts';
import type { MailboxRef, TaskContext, WorkerMessage } from './task.ts';

export interface WorkerOptions {
  /** The mailbox: by its name, created if it does not exist; by its fields, to create it with these; or by its id. */
  readonly mailbox: MailboxRef;
  /** Receives from this scope and those below it; default `*`, all runs in turn. */
  readonly scopeId?: string | undefined;
  /** How many messages are worked on at once; default 1. */
  readonly concurrency?: number | undefined;
  /**
   * Begins at most `limit` messages in any `windowSeconds`; default any number. It claims none that it may not begin yet. Other
   * workers are not counted: what all of them share is a quota, with `requires`.
   */
  readonly rate?: StartRate | undefined;
  /** The worker's name, for people; default: the names of machine and process. For an INBOX, its recipientId. */
  readonly holder?: string | undefined;
  /** The length of the lease, which is renewed at a third of it; default 30. */
  readonly leaseSeconds?: number | undefined;
  /** Publishes the handler's result into this mailbox, in the same step and in the message's scope. */
  readonly resultsTo?: MailboxRef | undefined;
  /** How long a receive is held at the server; default 20. */
  readonly waitSeconds?: number | undefined;
  /** Receives and ends many messages at a time; default true. */
  readonly batch?: boolean | undefined;
  /** How long work may continue after `close`; default 25. Unfinished messages are then given back. */
  readonly closeSeconds?: number | undefined;
  /**
   * Closes at SIGTERM and SIGINT; default true. The signal then ends the process once there is nothing left to do, or
   * after five seconds at the latest.
   */
  readonly closeOnSignals?: boolean | undefined;
}

/** The events of a worker. */
export interface WorkerEvents<Payload = unknown, Result = unknown> {
  /** A message was claimed. */
  received: { readonly message: WorkerMessage<Payload, Result> };
  /** A message was worked on and acknowledged. */
  completed: { readonly message: WorkerMessage<Payload, Result>; readonly result: Result; readonly durationMs: number };
  /** A message has asked a question and waits for the answer. `question.answerUrl` is the page for answering it. */
  asked: { readonly message: WorkerMessage<Payload, Result>; readonly question: AskedQuestion };
  /** A handler has suspended its message, slept or joined others. */
  suspended: { readonly message: WorkerMessage<Payload, Result> };
  /**
   * A handler threw, or the worker closed: the message was given back (READY, DELAYED) or ended (FAILED, REJECTED, or
   * CANCELLED if its group is decided).
   */
  failed: {
    readonly message: WorkerMessage<Payload, Result>;
    readonly error: unknown;
    readonly state: string;
    readonly readyAt: string | null;
  };
  /** A claim ended before the work did, so the work has no effect. */
  lost: { readonly message: WorkerMessage<Payload, Result>; readonly reason: ClaimLost };
  /** A handler's `log`. Without a listener it is printed to the console. */
  log: { readonly message: WorkerMessage<Payload, Result>; readonly text: string; readonly data: unknown };
  /**
   * A call failed. The worker continues unless `isFatal`. Without a listener, the console gets a line when an outage begins
   * and when it ends.
   */
  error: { readonly error: unknown; readonly isFatal: boolean };
  /** The worker has stopped. */
  closed: Readonly<Record<string, never>>;
}

/** The counts of a worker since it started. */
export interface WorkerCounts {
  readonly received: number;
  readonly completed: number;
  /** Attempts that ended with a question. */
  readonly asked: number;
  /** Attempts that ended with `suspend`, `sleep` or `join`. */
  readonly suspended: number;
  /** Messages given back for another attempt. */
  readonly returned: number;
  /** Messages that ended without success: by GiveUp, in their last attempt, or as members of a decided group. */
  readonly failed: number;
  readonly lost: number;
  /** Messages being worked on. */
  readonly active: number;
}

/** Works on a message and returns its result. Throws RetryLater, GiveUp, or any other error for another attempt. */
export type Handler<Payload, Result> = (
  message: WorkerMessage<Payload, Result>,
  context: TaskContext,
) => Promise<Result> | Result;
