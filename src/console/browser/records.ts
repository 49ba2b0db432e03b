import type { Answer } from 'muster-client';

/** The API's responses, with the types of its client. */

export type Census = Answer<'census.get'>;
export type Backlog = Answer<'backlog.get'>;
export type Waits = Answer<'waits.get'>;
export type Mailboxes = Answer<'mailbox.list'>;
export type Budgets = Answer<'budget.list'>;
export type Allowances = Answer<'allowance.list'>;
export type Schedules = Answer<'schedule.list'>;
export type Groups = Answer<'group.list'>;
export type Barriers = Answer<'barrier.list'>;
export type Run = Answer<'run.view'>;
export type Scope = Run['scope'];
/** A group's fields that are both in the list and in the run view. */
export type Group = Run['groups'][number];
export type Barrier = Barriers['barriers'][number];
export type EventsPage = Answer<'event.list'>;
/** An event of the journal; `Event` is the browser's. */
export type Happening = EventsPage['events'][number];

export type Counts = Readonly<Record<string, number>>;
