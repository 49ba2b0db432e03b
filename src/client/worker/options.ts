import type { Args } from '../types.ts';
import type { AskedQuestion } from './asking.ts';
import type { ClaimLost } from './errors.ts';
import type { TaskContext, WorkerMessage } from './task.ts';

export interface WorkerOptions {
  /** The mailbox by its name, made if there is none; its fields, to make it so; or the id of one. */
  readonly mailbox: string | Args<'mailbox.create'> | { readonly mailboxId: string };
  /** Receives from this scope and what is below it; default `*`: from all runs in turn. */
  readonly scopeId?: string | undefined;
  /** How many messages are worked on at once; default 1. */
  readonly concurrency?: number | undefined;
  /** The worker's name, for people; default: the machine's name and the process's number. An INBOX needs its recipientId. */
  readonly holder?: string | undefined;
  /** Default 30; a claim is renewed at a third of it. */
  readonly leaseSeconds?: number | undefined;
  /** Publishes what the handler returns into this mailbox, in the same step and in the message's scope. */
  readonly resultsTo?: WorkerOptions['mailbox'] | undefined;
  /** How long a receive is held at the server; default 20. */
  readonly waitSeconds?: number | undefined;
  /** Receives many at a time and ends many at a time; default true. */
  readonly batch?: boolean | undefined;
  /** How long work may go on after `close`; default 25. What is not done then is given back. */
  readonly closeSeconds?: number | undefined;
  /**
   * Closes at SIGTERM and SIGINT, and has the signal end the process once nothing is left to do after that, or five seconds
   * later; default true.
   */
  readonly closeOnSignals?: boolean | undefined;
}

/** The events of a worker. */
export interface WorkerEvents<Payload = unknown, Result = unknown> {
  /** A message was claimed. */
  received: { readonly message: WorkerMessage<Payload, Result> };
  /** Its work was done and acknowledged. */
  completed: { readonly message: WorkerMessage<Payload, Result>; readonly result: Result; readonly durationMs: number };
  /** It has asked, and waits for the answer. `question.answerUrl` is the page on which a person answers. */
  asked: { readonly message: WorkerMessage<Payload, Result>; readonly question: AskedQuestion };
  /** Its handler threw, or the worker closed: it was given back (READY, DELAYED), or has ended (FAILED, REJECTED). */
  failed: {
    readonly message: WorkerMessage<Payload, Result>;
    readonly error: unknown;
    readonly state: string;
    readonly readyAt: string | null;
  };
  /** Its claim was over before its work: what came of it has no effect. */
  lost: { readonly message: WorkerMessage<Payload, Result>; readonly reason: ClaimLost };
  /** A handler's `log`. Without a listener it goes to the console. */
  log: { readonly message: WorkerMessage<Payload, Result>; readonly text: string; readonly data: unknown };
  /** A call failed; the worker goes on unless `isFatal`. Without a listener the console has a line when an outage begins and one when it ends. */
  error: { readonly error: unknown; readonly isFatal: boolean };
  /** It has stopped. */
  closed: Readonly<Record<string, never>>;
}

/** The counts of a worker since it started. */
export interface WorkerCounts {
  readonly received: number;
  readonly completed: number;
  /** Ended with a question. */
  readonly asked: number;
  /** Given back for another attempt. */
  readonly returned: number;
  /** Ended without success: GiveUp, or the last attempt. */
  readonly failed: number;
  readonly lost: number;
  /** Worked on now. */
  readonly active: number;
}

/** Does the work of a message, and returns its result; throws RetryLater, GiveUp, or any error for another attempt. */
export type Handler<Payload, Result> = (
  message: WorkerMessage<Payload, Result>,
  context: TaskContext,
) => Promise<Result> | Result;
