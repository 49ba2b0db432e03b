import { el, setHeading } from '../dom.ts';
import { panel } from '../panels/panel.ts';
import { partiesPanel, poolState } from '../panels/pools.ts';
import { section } from '../parts.ts';
import type { PageRef } from '../place.ts';
import type { Pool } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import type { Page } from './page.ts';

/** One pool: how much of it is held and by whom, and its waiters in order. */
export function poolPage({ id = '' }: PageRef, world: SpaceState): Page {
  const state = panel<Pool>({
    id: 'pool',
    path: `/pools/${id}`,
    hears: ['pool', 'hold', 'message'],
    everySeconds: 4,
    idleSeconds: 20,
    learn: ({ name }, known) => {
      known.name(id, { name });
      setHeading(`Pool ${name}`, id);
    },
    render: (pool, known) => [el('div', { class: 'bars' }, el('div', {}, ...poolState(pool, known)))],
  });
  const parties = partiesPanel(id);
  return {
    title: `Pool ${world.named(id, 'pool').name}`,
    id,
    content: [section('Now', state.id), section('Who holds it, and who waits', parties.id)],
    panels: [state, parties],
  };
}
