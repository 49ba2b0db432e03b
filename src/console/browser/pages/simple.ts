import { el } from '../dom.ts';
import { barriers, groups } from '../panels/meetings.ts';
import { allowances, budgets, queues } from '../panels/resources.ts';
import { runPanel } from '../panels/run.ts';
import { schedules } from '../panels/schedules.ts';
import { section } from '../parts.ts';
import type { Place } from '../place.ts';
import type { Page } from './page.ts';

function legend(settled: string, reserved: string): Element {
  const sample = (name: string): Element => el('span', { class: name });
  return el('p', { class: 'legend' }, sample('settled'), ` ${settled} `, sample('reserved'), ` ${reserved}`);
}

export function runPage({ id = '' }: Place): Page {
  return {
    title: 'Run',
    id,
    content: [el('div', { id: 'run' })],
    panels: [runPanel(id), queues, budgets, allowances],
    journalOf: id,
  };
}

export function moneyPage(): Page {
  return {
    title: 'Money and quotas',
    content: [section('Budgets', budgets.id, legend('settled', 'reserved')), section('Allowances', allowances.id)],
    panels: [budgets, allowances],
  };
}

export function schedulesPage(): Page {
  return { title: 'Schedules', content: [section('All schedules', schedules.id)], panels: [schedules, queues] };
}

export function groupsPage(): Page {
  return {
    title: 'Groups and barriers',
    content: [section('Task groups', groups.id, legend('succeeded', 'running')), section('Barriers', barriers.id)],
    panels: [groups, barriers, queues],
  };
}
