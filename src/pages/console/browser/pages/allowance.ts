import { el, setHeading } from '../dom.ts';
import { panel } from '../panels/panel.ts';
import { allowanceState } from '../panels/resources.ts';
import { usagePanel, waitersPanel } from '../panels/usage.ts';
import { section } from '../parts.ts';
import type { PageRef } from '../place.ts';
import type { Allowance } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import type { Page } from './page.ts';

/** One allowance: its window, its waiters in order, and who has used how much. */
export function allowancePage({ id = '' }: PageRef, world: SpaceState): Page {
  const state = panel<Allowance>({
    id: 'allowance',
    path: `/allowances/${id}`,
    hears: ['allowance', 'waiter'],
    everySeconds: 4,
    idleSeconds: 20,
    learn: ({ name }, known) => {
      known.name(id, { name });
      setHeading(`Allowance ${name}`, id);
    },
    render: (allowance, known) => [el('div', { class: 'bars' }, el('div', {}, ...allowanceState(allowance, known)))],
  });
  const [waiters, usage] = [waitersPanel(id), usagePanel(id, world)];
  return {
    title: `Allowance ${world.named(id).name}`,
    id,
    content: [
      section('This window', state.id),
      section('Who waits, in order', waiters.id),
      section('Who has used what', usage.id),
    ],
    panels: [state, waiters, usage],
  };
}
