import { choices } from './choices.ts';
import { byId, el } from './dom.ts';

/** The menus of the header. redraw: shows the page again, with other times. */
export function startSettings(redraw: () => void): void {
  const theme = byId<HTMLSelectElement>('theme');
  theme.value = choices.theme;
  theme.addEventListener('change', () => {
    choices.theme = theme.value;
  });
  const zone = byId<HTMLSelectElement>('zone');
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  zone.append(
    el('option', { value: '' }, `this browser's zone (${own})`),
    ...['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')].map((name) =>
      el('option', { value: name }, name),
    ),
  );
  zone.value = choices.zone ?? '';
  zone.addEventListener('change', () => {
    choices.zone = zone.value === '' ? undefined : zone.value;
    redraw();
  });
  const keys = byId<HTMLInputElement>('single-keys');
  keys.checked = choices.hasKeys;
  keys.addEventListener('change', () => {
    choices.hasKeys = keys.checked;
  });
  closeMenus();
}

/** A menu closes when something else is used, by Escape, and by a choice of a place. */
function closeMenus(): void {
  const menus = [...document.querySelectorAll<HTMLDetailsElement>('details.menu')];
  const close = (except?: Node): void => {
    for (const menu of menus) if (!except || !menu.contains(except)) menu.open = false;
  };
  addEventListener('click', ({ target }) => close(target instanceof Node ? target : undefined));
  addEventListener('focusin', ({ target }) => close(target instanceof Node ? target : undefined));
  addEventListener('hashchange', () => close());
  addEventListener('keydown', ({ key }) => {
    const open = menus.find((menu) => menu.open);
    if (key !== 'Escape' || !open) return;
    open.querySelector('summary')?.focus();
    close();
  });
}
