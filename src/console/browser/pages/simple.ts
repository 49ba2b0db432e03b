import { el } from '../dom.ts';
import { budgets, budgetsPanel } from '../panels/budgets.ts';
import { barriersPanel, groupsPanel } from '../panels/meetings.ts';
import { allowances, allowancesPanel, queues } from '../panels/resources.ts';
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

export function runPage({ id = '' }: PageRef): Page {
  return {
    title: 'Run',
    id,
    content: [el('div', { id: 'run' })],
    panels: [runPanel(id), queues, budgets, allowances],
    journalOf: id,
  };
}

export function moneyPage(place: PageRef): Page {
  const [money, quotas] = [budgetsPanel(place), allowancesPanel(place)];
  const form = searchForm(place, [{ name: 'name', label: 'Name, exactly' }], ['budgets', 'allowances']);
  return {
    title: 'Money and quotas',
    content: [section('Budgets', money.id, form, legend('settled', 'reserved')), section('Allowances', quotas.id)],
    panels: [money, quotas],
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
