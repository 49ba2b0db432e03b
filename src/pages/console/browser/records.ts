import type { Answer } from 'muster-client';

/** The API's responses, with the types of its client. */

export type Spaces = Answer<'space.list'>;
export type Keys = Answer<'key.list'>;
export type Key = Keys['keys'][number];
export type KeyAudit = Answer<'key.audit'>;
export type Census = Answer<'census.get'>;
export type Limits = Answer<'limits.get'>;
export type Backlog = Answer<'backlog.get'>;
export type Figures = Answer<'figures.get'>;
export type Waits = Answer<'waits.get'>;
export type Receivers = Answer<'receivers.get'>;
export type Usage = Answer<'usage.get'>;
export type Mailboxes = Answer<'mailbox.list'>;
export type Mailbox = Answer<'mailbox.view'>;
export type Messages = Answer<'message.list'>;
export type Message = Answer<'message.view'>;
export type Found = Answer<'message.find'>;
export type Attempts = Answer<'message.attempts'>;
export type Budgets = Answer<'budget.list'>;
export type Budget = Budgets['budgets'][number];
export type BudgetView = Answer<'budget.view'>;
export type Voided = Answer<'budget.void'>;
export type Allowances = Answer<'allowance.list'>;
export type Allowance = Answer<'allowance.view'>;
export type Waiter = Answer<'waiter.view'>;
export type Pools = Answer<'pool.list'>;
export type Pool = Answer<'pool.view'>;
export type Hold = Answer<'hold.view'>;
export type Schedules = Answer<'schedule.list'>;
/** A schedule's fields that are both in the list and in the view. */
export type Schedule = Schedules['schedules'][number];
export type ScheduleView = Answer<'schedule.view'>;
export type Destinations = Answer<'destination.list'>;
export type Destination = Answer<'destination.view'>;
export type Deliveries = Answer<'delivery.list'>;
export type Groups = Answer<'group.list'>;
export type Barriers = Answer<'barrier.list'>;
export type Scopes = Answer<'scope.list'>;
export type Notes = Answer<'note.list'>;
export type Note = Answer<'note.view'>;
export type ErrorCounts = Answer<'mailbox.errors'>;
export type Bulks = Answer<'bulk.list'>;
export type Bulk = Answer<'bulk.view'>;
export type Questions = Answer<'question.list'>;
export type Question = Questions['questions'][number];
export type Run = Answer<'run.view'>;
export type Scope = Run['scope'];
/** A group's fields that are both in the list and in the run view. */
export type Group = Run['groups'][number];
export type Barrier = Barriers['barriers'][number];
export type EventsPage = Answer<'event.list'>;
/** An event of the journal; `Event` is the browser's. */
export type Happening = EventsPage['events'][number];

export type Counts = Readonly<Record<string, number>>;
