import type { Answer } from 'muster/client';

/** What the API answers to the console's reads, by the types of its own client. */

export type Census = Answer<'census.get'>;
export type Backlog = Answer<'backlog.get'>;
export type Waits = Answer<'waits.get'>;
export type Mailboxes = Answer<'mailbox.list'>;
export type Budgets = Answer<'budget.list'>;
export type Allowances = Answer<'allowance.list'>;
export type Groups = Answer<'group.list'>;
export type Barriers = Answer<'barrier.list'>;
export type Run = Answer<'run.view'>;
export type Scope = Run['scope'];
/** Of a group, what the list and the run view both tell. */
export type Group = Run['groups'][number];
export type Barrier = Barriers['barriers'][number];
export type EventsPage = Answer<'event.list'>;
/** An event; the browser has another thing of that name. */
export type Happening = EventsPage['events'][number];

export type Counts = Readonly<Record<string, number>>;
