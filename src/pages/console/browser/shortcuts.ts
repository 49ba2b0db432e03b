import { choices } from './choices.ts';
import { byId } from './dom.ts';

/** Where a row begins: the first link of each. */
const rows = '#page :is(tbody tr, .bars > li, .events > li, .inbox > li, .concerns > li)';

function links(): HTMLElement[] {
  return [...document.querySelectorAll(rows)]
    .map((row) => row.querySelector<HTMLElement>('a, button'))
    .filter((link): link is HTMLElement => link?.checkVisibility() ?? false);
}

/** Moves the focus to the next row, or the previous one. */
function move(by: 1 | -1): void {
  const all = links();
  const row = document.activeElement?.closest('tr, li');
  const at = all.findIndex((link) => row?.contains(link));
  const next = at === -1 ? (by === 1 ? 0 : all.length - 1) : at + by;
  all[Math.min(Math.max(0, next), all.length - 1)]?.focus();
}

const takesText = (node: EventTarget | null): boolean =>
  node instanceof Element && node.matches('input, select, textarea, dialog, dialog *');

/** Keys for what is done most. Each is a single one, so they can be switched off (WCAG 2.1.4). refresh: reads the page again. */
export function startShortcuts(refresh: () => void): void {
  const acts: Readonly<Record<string, () => void>> = {
    '/': () => byId<HTMLInputElement>('find-text').select(),
    j: () => move(1),
    k: () => move(-1),
    n: () => document.querySelector<HTMLElement>('#page a[data-key="next"]')?.click(),
    b: () => history.back(),
    r: refresh,
  };
  addEventListener('keydown', (event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event;
    const act = acts[key];
    if (!act || !choices.hasKeys || ctrlKey || metaKey || altKey || takesText(target)) return;
    event.preventDefault();
    act();
  });
}
