import { el } from '../dom.ts';
import { budgets, budgetsPanel } from '../panels/budgets.ts';
import { barriersPanel, groupsPanel } from '../panels/meetings.ts';
import { notesPanel } from '../panels/notes.ts';
import { pools, poolsPanel } from '../panels/pools.ts';
import { queues } from '../panels/queues.ts';
import { allowances, allowancesPanel } from '../panels/resources.ts';
import { runPanel } from '../panels/run.ts';
import { schedulesPanel } from '../panels/schedules.ts';
import { section } from '../parts.ts';
import type { PageRef } from '../place.ts';
import type { Page } from './page.ts';
import { searchForm } from './search.ts';

function legend(settled: string, reserved: string): Element {
  const sample = (name: string): Element => el('span', { class: name });
  return el('p', { class: 'legend' }, sample('settled'), ` ${settled} `, sample('reserved'), ` ${reserved}`);
}

export function runPage(place: PageRef): Page {
  const { id = '' } = place;
  const notes = notesPanel(id, place);
  return {
    title: 'Run',
    id,
    content: [el('div', { id: 'run' }), section('Notes of this run', notes.id)],
    panels: [runPanel(id), notes, queues, budgets, allowances, pools],
    journalOf: id,
  };
}

export function moneyPage(place: PageRef): Page {
  const [money, quotas, places] = [budgetsPanel(place), allowancesPanel(place), poolsPanel(place)];
  const form = searchForm(place, [{ name: 'name', label: 'Name, exactly' }], ['budgets', 'allowances', 'pools']);
  return {
    title: 'Money and quotas',
    content: [
      section('Budgets', money.id, form, legend('settled', 'reserved')),
      section('Allowances', quotas.id),
      section('Pools', places.id),
    ],
    panels: [money, quotas, places],
  };
}

export function schedulesPage(place: PageRef): Page {
  const schedules = schedulesPanel(place);
  return { title: 'Schedules', content: [section('All schedules', schedules.id)], panels: [schedules, queues] };
}

export function groupsPage(place: PageRef): Page {
  const [groups, barriers] = [groupsPanel(place), barriersPanel(place)];
  return {
    title: 'Groups and barriers',
    content: [section('Task groups', groups.id, legend('succeeded', 'running')), section('Barriers', barriers.id)],
    panels: [groups, barriers, queues],
  };
}
