import { find, type Hit, type Section } from './find.js';

/** The address of /docs/, including any prefix that a proxy adds. */
const home = new URL('.', import.meta.url);

const element = <T extends HTMLElement>(selector: string): T => {
  const found = document.querySelector<T>(selector);
  if (!found) throw new Error(`there is no ${selector}`);
  return found;
};

const form = element<HTMLFormElement>('#search');
const input = element<HTMLInputElement>('#query');
const results = element('#results');
const list = element<HTMLOListElement>('#results ol');
const status = element('#results [role=status]');
form.hidden = false;

let index: Promise<readonly Section[]> | undefined;

/** Loads the index once, when somebody is about to search. */
function load(): Promise<readonly Section[]> {
  index ??= fetch(new URL('search.json', home)).then((response) => {
    if (!response.ok) throw new Error(`the index answers ${response.status}`);
    return response.json() as Promise<readonly Section[]>;
  });
  index.catch(() => {
    index = undefined;
  });
  return index;
}

function item({ address, page, heading, excerpt }: Hit): HTMLLIElement {
  const link = document.createElement('a');
  link.href = new URL(address, home).href;
  const title = document.createElement('b');
  title.textContent = heading === '' ? page : heading;
  const where = document.createElement('span');
  where.textContent = heading === '' ? '' : ` ${page}`;
  const text = document.createElement('small');
  text.textContent = excerpt;
  link.append(title, where, text);
  const one = document.createElement('li');
  one.append(link);
  return one;
}

async function search(): Promise<void> {
  // Enter must not open a result of an earlier query.
  list.replaceChildren();
  const query = input.value.trim();
  if (query === '') return close();
  let said: string;
  try {
    const found = find(await load(), query);
    if (input.value.trim() !== query) return;
    list.replaceChildren(...found.map(item));
    said = found.length === 0 ? `Nothing has "${query}"` : `${found.length} ${found.length === 1 ? 'place' : 'places'}`;
  } catch {
    said = 'The search cannot be loaded';
  }
  status.textContent = said;
  results.hidden = false;
}

function close(): void {
  results.hidden = true;
}

/** Arrow keys move through the input and the results. */
function step(by: number): void {
  const stops = [input, ...list.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement as HTMLInputElement);
  stops[Math.max(0, Math.min(stops.length - 1, at + by))]?.focus();
}

input.addEventListener('focus', () => void load().catch(() => {}));
input.addEventListener('input', () => void search());
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void search().then(() => list.querySelector('a')?.click());
});
form.addEventListener('keydown', (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by !== undefined && !results.hidden) {
    event.preventDefault();
    step(by);
  } else if (event.key === 'Escape') {
    close();
    input.focus();
  }
});
// A result on this page does not load a page, so close the list.
list.addEventListener('click', close);
document.addEventListener('click', ({ target }) => {
  if (!form.contains(target as Node)) close();
});
document.addEventListener('keydown', (event) => {
  const { activeElement } = document;
  if (event.key !== '/' || event.ctrlKey || event.metaKey || activeElement?.matches('input, textarea, select')) return;
  event.preventDefault();
  input.focus();
});

const pages = element('#pages');
// A heading of this page does not load a page, so close the list.
pages.addEventListener('click', ({ target }) => {
  if ((target as Element).matches('a') && pages.matches(':popover-open')) pages.hidePopover();
});

/** Browsers offer the clipboard only to pages that come over HTTPS or from this machine. */
if (navigator.clipboard)
  for (const block of document.querySelectorAll('pre')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(block.textContent ?? '');
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 1_500);
    });
    const around = document.createElement('div');
    around.className = 'code';
    block.replaceWith(around);
    around.append(block, button);
  }
