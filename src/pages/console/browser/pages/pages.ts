import { kindNames } from '../kinds.ts';
import type { PageRef } from '../place.ts';
import type { SpaceState } from '../space-state.ts';
import { allowancePage } from './allowance.ts';
import { budgetPage } from './budget.ts';
import { failedPage } from './failed.ts';
import { findPage } from './find.ts';
import { journalPage } from './journal.ts';
import { keysPage } from './keys.ts';
import { mailboxesPage, mailboxPage } from './mailboxes.ts';
import { messagePage } from './message.ts';
import { notePage } from './note.ts';
import { objectPage } from './object.ts';
import { overviewPage } from './overview.ts';
import type { Page } from './page.ts';
import { poolPage } from './pool.ts';
import { questionsPage } from './questions.ts';
import { runsPage } from './runs.ts';
import { groupsPage, moneyPage, runPage, schedulesPage } from './simple.ts';
import { webhooksPage } from './webhooks.ts';
import { workersPage } from './workers.ts';

type Maker = (place: PageRef, world: SpaceState) => Page;

/** The pages of a space, by the name in the address. The navigation is in index.html. */
const ofSpace: Readonly<Record<string, Maker>> = {
  '': overviewPage,
  mailboxes: mailboxesPage,
  failed: failedPage,
  workers: workersPage,
  find: findPage,
  questions: questionsPage,
  runs: runsPage,
  journal: (place, world) => journalPage(place, world.now()),
  schedules: schedulesPage,
  money: moneyPage,
  groups: groupsPage,
  webhooks: webhooksPage,
  keys: keysPage,
};

/** The pages of one object. Each kind has one. */
const ofObject: Readonly<Record<string, Maker>> = {
  ...Object.fromEntries(kindNames.map((name) => [name, objectPage])),
  mailbox: mailboxPage,
  message: messagePage,
  run: runPage,
  note: notePage,
  budget: budgetPage,
  allowance: allowancePage,
  pool: poolPage,
};

/** The names of the pages of a space and of the pages of one object. */
export const pageNames = { ofSpace: Object.keys(ofSpace), ofObject: Object.keys(ofObject) };

/** The page at a place; the overview if there is no such page. */
export function pageOf(place: PageRef, world: SpaceState): Page {
  const makers = place.id === undefined ? ofSpace : ofObject;
  return (makers[place.page] ?? overviewPage)(place, world);
}
