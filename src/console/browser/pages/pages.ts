import type { PageRef } from '../place.ts';
import type { World } from '../world.ts';
import { allowancePage } from './allowance.ts';
import { budgetPage } from './budget.ts';
import { failedPage } from './failed.ts';
import { journalPage } from './journal.ts';
import { keysPage } from './keys.ts';
import { mailboxesPage, mailboxPage } from './mailboxes.ts';
import { messagePage } from './message.ts';
import { notePage } from './note.ts';
import { overviewPage } from './overview.ts';
import type { Page } from './page.ts';
import { poolPage } from './pool.ts';
import { questionsPage } from './questions.ts';
import { runsPage } from './runs.ts';
import { groupsPage, moneyPage, runPage, schedulesPage } from './simple.ts';
import { webhooksPage } from './webhooks.ts';
import { workersPage } from './workers.ts';

type Maker = (place: PageRef, world: World) => Page;

/** By the name in the address; those of the navigation are in index.html. */
const ofSpace: Readonly<Record<string, Maker>> = {
  '': overviewPage,
  mailboxes: mailboxesPage,
  failed: failedPage,
  workers: workersPage,
  questions: questionsPage,
  runs: runsPage,
  journal: (place, world) => journalPage(place, world.now()),
  schedules: schedulesPage,
  money: moneyPage,
  groups: groupsPage,
  webhooks: webhooksPage,
  keys: keysPage,
};

/** Those of one object. */
const ofObject: Readonly<Record<string, Maker>> = {
  mailbox: mailboxPage,
  message: messagePage,
  run: runPage,
  note: notePage,
  budget: budgetPage,
  allowance: allowancePage,
  pool: poolPage,
};

/** Those of a space and those of one object by their names. */
export const pageNames = { ofSpace: Object.keys(ofSpace), ofObject: Object.keys(ofObject) };

/** The overview where there is no such page. */
export function pageOf(place: PageRef, world: World): Page {
  const makers = place.id === undefined ? ofSpace : ofObject;
  return (makers[place.page] ?? overviewPage)(place, world);
}
