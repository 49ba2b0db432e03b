import { el } from '../dom.ts';
import { budgets } from '../panels/budgets.ts';
import { graphsPanel } from '../panels/graphs.ts';
import { limits } from '../panels/limits.ts';
import { now } from '../panels/now.ts';
import { overduePanel } from '../panels/overdue.ts';
import { pools } from '../panels/pools.ts';
import { queues } from '../panels/queues.ts';
import { receiversPanel } from '../panels/receivers.ts';
import { allowances } from '../panels/resources.ts';
import { waits } from '../panels/waits.ts';
import { section } from '../parts.ts';
import type { Page } from './page.ts';
import { newestRuns } from './runs.ts';
import { destinations } from './webhooks.ts';

const legend = el(
  'p',
  { class: 'legend' },
  el('span', { class: 'settled' }),
  ' claimed ',
  el('span', { class: 'reserved' }),
  ' ready or delayed',
);

/** The space now. What has no section is read only for its names and problems. */
export function overviewPage(): Page {
  const graphs = graphsPanel();
  const overdue = overduePanel();
  return {
    title: 'Overview',
    content: [
      section('Now', now.id, el('div', { id: overdue.id })),
      section('Over time', graphs.id),
      section('Who waits for what', waits.id),
      section('Queues', queues.id, legend),
      section('Runs', newestRuns.id),
    ],
    panels: [
      ...[now, overdue, graphs, waits, queues, newestRuns],
      ...[budgets, allowances, pools, destinations, receiversPanel(), limits],
    ],
    journalOf: '',
  };
}
