export type { Codec } from './codec.ts';
export { MusterError } from './error.ts';
export type { AtomicCalls, BatchedCalls, Calls } from './generated/calls.ts';
export type { ErrorCode, ErrorCodes } from './generated/errors.ts';
export { type NewGroup, TypedGroup } from './group.ts';
export type { Journal } from './journal.ts';
export type { GroupRef, JudgedTask, Verdict } from './judge.ts';
export {
  defineMailboxes,
  type Mailboxes,
  type MailboxInAtomic,
  type MailboxInBatch,
  type MailboxTypes,
  NoResult,
  TypedMailbox,
} from './mailbox.ts';
export { createMuster, type Muster } from './muster.ts';
export { type Hold, HoldLost, type HoldOptions, type Pool, type PoolRef } from './pool.ts';
export { type NoteOptions, type NoteRecord, Run, RunNote } from './run.ts';
export { runId } from './run-id.ts';
export type { MusterOptions } from './send.ts';
export { ModelCall, type Used } from './spend/model-call.ts';
export type { OnUnknown } from './spend/outcome.ts';
export type { SpendQuota } from './spend/quotas.ts';
export { knownProviders, type LimitHeaders, type ProviderHeaders } from './spend/rate-limits.ts';
export type { SpendOptions } from './spend/spend.ts';
export type { SpendFor } from './spend/spender.ts';
export type { Usage } from './spend/usage.ts';
export type {
  After,
  Answer,
  Args,
  AtomicAnswers,
  AtomicOptions,
  BatchedCall,
  BatchedOptions,
  BatchResult,
  BatchResults,
  CallName,
  CallOptions,
  Event,
  EventFilter,
  EventOf,
  EventType,
  Expectation,
  From,
  JournalOptions,
  ListOf,
  OneOf,
  PendingCall,
  Typed,
} from './types.ts';
export { UnreadableValue } from './unreadable.ts';
export type { BarrierWaits, GroupWaits, ScopeWaits, WaitOptions } from './waits.ts';
export {
  type VerifyOptions,
  verifyWebhook,
  WebhookError,
  type WebhookHeaders,
  type WebhookMessage,
} from './webhook.ts';
export { Asked, type AskedQuestion, type AskOptions, type GivenAnswer } from './worker/asking.ts';
export { ClaimLost, GiveUp, RetryLater, type RetryLaterOptions, WorkerClosed } from './worker/errors.ts';
export type { Handler, WorkerCounts, WorkerEvents, WorkerOptions } from './worker/options.ts';
export type { StartRate } from './worker/rate.ts';
export type { PrerequisiteResult } from './worker/results.ts';
export type {
  AllowanceRef,
  BudgetRef,
  Reservation,
  ReservationRecord,
  ReserveOptions,
  Settlement,
} from './worker/spending.ts';
export {
  type JoinedSend,
  JoinFailed,
  type JoinOptions,
  Suspended,
  type SuspendOptions,
} from './worker/suspending.ts';
export type { MailboxRef, TaskContext, TaskSendFields, WorkerMessage } from './worker/task.ts';
export { Worker } from './worker/worker.ts';
