import { el } from '../dom.ts';
import { now } from '../panels/now.ts';
import { allowances, budgets, queues } from '../panels/resources.ts';
import { waits } from '../panels/waits.ts';
import { section } from '../parts.ts';
import type { Page } from './page.ts';
import { newestRuns } from './runs.ts';

const legend = el(
  'p',
  { class: 'legend' },
  el('span', { class: 'settled' }),
  ' claimed ',
  el('span', { class: 'reserved' }),
  ' ready or delayed',
);

/** What is going on in the space. Budgets and allowances are read for their names. */
export function overviewPage(): Page {
  return {
    title: 'Overview',
    content: [
      section('Now', now.id),
      section('Who waits for what', waits.id),
      section('Queues', queues.id, legend),
      section('Runs', newestRuns.id),
    ],
    panels: [now, waits, queues, newestRuns, budgets, allowances],
    journalOf: '',
  };
}
