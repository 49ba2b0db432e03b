import { actions } from './actions.ts';
import { Api, Failure } from './api.ts';
import { applyChoices } from './choices.ts';
import { byId, el, setText, setTitle } from './dom.ts';
import { count, shortId } from './format.ts';
import { pageNames } from './pages/pages.ts';
import { address, placeOf } from './place.ts';
import type { Census, Spaces } from './records.ts';
import { orgOf, session } from './session.ts';
import { startSettings } from './settings.ts';
import { startShortcuts } from './shortcuts.ts';
import { SpaceView } from './space-view.ts';
import { startTips } from './tip.ts';

/** Exported for the tests. */
export { actions, pageNames };

/** Reasons to pause reading. */
const pauses = { byHand: false, hidden: document.hidden };
/** More are on the page of all spaces. */
const maxSwitch = 12;
const views = { 'sign-in': 'sign-in-title', spaces: 'spaces-title', 'page-view': 'page-title' } as const;
let turns = 0;
let view: { readonly spaceId: string; readonly space: SpaceView } | undefined;
/** The spaces that the key sees, as far as they have been read. */
let known: Spaces['spaces'] = [];
/** The cursor of the next page of spaces; null if there is none. */
let moreSpaces: string | null = null;

function status(text: string): void {
  const line = byId('status');
  setText(line, text);
}

function showOnly(wanted: keyof typeof views): void {
  for (const one of Object.keys(views)) byId(one).hidden = one !== wanted;
  byId('session').hidden = wanted === 'sign-in';
  for (const id of ['pages', 'find', 'menu']) byId(id).hidden = wanted !== 'page-view';
  byId('switch').hidden = wanted === 'sign-in';
  showSwitch();
  if (wanted !== 'page-view') byId('journal').hidden = true;
}

/** The spaces and organizations to switch to. */
function showSwitch(): void {
  const { key, others } = session;
  const current = placeOf(location.hash).spaceId;
  const nameOf = ({ id, name }: (typeof known)[number]): string => name ?? shortId(id);
  const shown = known.find(({ id }) => id === current);
  setText(byId('space-shown'), shown ? nameOf(shown) : 'Spaces');
  setText(byId('org-shown'), orgOf(key) ?? 'Spaces');
  const spaceLink = (one: (typeof known)[number]): Element => {
    const link = el('a', { class: 'named', href: address(one.id) }, nameOf(one));
    if (one.id === current) link.setAttribute('aria-current', 'true');
    return el('li', {}, link);
  };
  byId('switch-spaces').replaceChildren(...known.slice(0, maxSwitch).map(spaceLink));
  byId('others-title').hidden = others.size === 0;
  const button = (org: string): Element => el('button', { type: 'button', 'data-org': org }, org);
  byId('others').replaceChildren(...[...others.keys()].map((org) => el('li', {}, button(org))));
}

/** Goes on with the key of another organization. */
async function switchTo(key: string): Promise<void> {
  session.keep();
  session.key = key;
  known = [];
  close();
  location.hash = '#/';
  await follow(true);
}

function close(): void {
  view?.space.close();
  view = undefined;
  status('');
}

function signIn(problem = ''): void {
  // A space still being opened for the previous key must not replace the form.
  turns++;
  close();
  showOnly('sign-in');
  setTitle('Sign in');
  byId<HTMLAnchorElement>('account').href = accountAddress();
  setText(byId('problem'), problem);
}

/** Lists the spaces to choose from. problem: why the requested space could not be opened. */
function showSpaces(problem = ''): void {
  close();
  showOnly('spaces');
  setTitle('Spaces');
  setText(byId('spaces-problem'), problem);
  const items = known.map(({ id, name }) =>
    el(
      'li',
      {},
      el('a', { href: address(id) }, name ?? shortId(id)),
      ' ',
      el('span', { class: 'id note' }, name === null ? '' : id),
    ),
  );
  byId('spaces-list').replaceChildren(...items);
  byId('more-spaces').hidden = moreSpaces === null;
}

/** Adds the next page of spaces, and moves the focus to the first new one. */
async function readMoreSpaces(): Promise<void> {
  const { key } = session;
  if (key === undefined || moreSpaces === null) return;
  const [turn, shown] = [turns, known.length];
  const button = byId<HTMLButtonElement>('more-spaces');
  button.disabled = true;
  try {
    const page = await new Api('', key).spaces(moreSpaces);
    // The user has navigated away meanwhile.
    if (turn !== turns) return;
    known = [...known, ...page.spaces];
    moreSpaces = page.nextCursor;
    showSpaces();
    byId('spaces-list').querySelectorAll('a')[shown]?.focus();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    setText(byId('spaces-problem'), error.text);
  } finally {
    button.disabled = false;
  }
}

/** The page that signs in at the issuer and then returns to this place. */
const accountAddress = (): string => `console/sign-in${location.hash}`;

/** Forgets a refused key and returns the problem. If it was an account's token, goes to the issuer for a new one. */
function forget(failure: Failure, key: string): string {
  const { isRenewable } = session;
  session.key = undefined;
  if (failure.status !== 401 || !isRenewable) return explain(failure, key);
  location.assign(accountAddress());
  return 'Signing in again…';
}

/** The failure's message, with advice if the key lacks a permission. */
function explain({ code, message, text }: Failure, key: string): string {
  if (code !== 'PERMISSION_DENIED' || !message.includes('coordination_read')) return text;
  const org = orgOf(key);
  if (org === undefined) return `${message}: it is the only permission that the console needs.`;
  const command = `muster key create --org ${org} --permissions coordination_read`;
  return `${message}: it is the only permission that the console needs. Create such a key with: ${command}`;
}

function goOn(): void {
  const isPaused = pauses.byHand || pauses.hidden;
  if (isPaused) {
    view?.space.pause();
    status(pauses.byHand ? 'Paused.' : 'Paused while the tab is hidden.');
  } else if (view) view.space.resume();
  else status('');
}

/** Reads the spaces that the key sees. Returns the problem if that fails or there are none, otherwise ''. */
async function enter(key: string): Promise<string> {
  try {
    ({ spaces: known, nextCursor: moreSpaces } = await new Api('', key).spaces());
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.status === 401 && session.key === key ? forget(error, key) : explain(error, key);
  }
  if (known.length === 0)
    return 'This key sees no space. Create one with: muster space create (in a clone: npm run -s muster -- space create)';
  return '';
}

/** Opens the space if the key may read it. Otherwise returns the problem. */
async function open(spaceId: string, key: string, turn: number): Promise<string> {
  const api = new Api(spaceId, key);
  try {
    const { asOf } = await api.get<Census>('/census');
    const can = await api.rights();
    // The user has navigated away meanwhile.
    if (turn !== turns) return '';
    close();
    const space = new SpaceView(api, can, asOf, {
      status,
      counted: showCounts,
      refused: (failure) => {
        signIn(forget(failure, key));
        byId('sign-in-title').focus();
      },
    });
    view = { spaceId, space };
    return '';
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.status === 401 ? forget(error, key) : explain(error, key);
  }
}

/** Shows in the navigation how much on each page needs somebody. */
function showCounts(counts: ReadonlyMap<string, number>): void {
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-page]')) {
    const number = counts.get(link.dataset['page'] ?? '') ?? 0;
    const shown = link.querySelector<HTMLElement>('.count');
    if (!shown) continue;
    shown.hidden = number === 0;
    setText(shown, number === 0 ? '' : count(number));
  }
}

/** Shows the page that the URL names. */
async function follow(moved: boolean): Promise<void> {
  const turn = ++turns;
  const { key } = session;
  if (key === undefined) {
    signIn();
    return;
  }
  if (known.length === 0) {
    const problem = await enter(key);
    if (turn !== turns) return;
    if (problem !== '') {
      signIn(problem);
      return;
    }
  }
  const place = placeOf(location.hash);
  const [only] = known;
  if (place.spaceId === undefined && known.length === 1 && only) {
    location.replace(address(only.id));
    return;
  }
  if (place.spaceId === undefined) {
    showSpaces();
    if (moved) byId(views.spaces).focus();
    return;
  }
  if (view?.spaceId !== place.spaceId) {
    const problem = await open(place.spaceId, key, turn);
    if (turn !== turns) return;
    if (problem !== '') {
      showSpaces(problem);
      return;
    }
  }
  if (!view) return;
  const { title } = view.space.show(place);
  showCounts(view.space.counts());
  showOnly('page-view');
  const space = known.find(({ id }) => id === place.spaceId);
  setText(byId('space-name'), `Space ${space?.name ?? ''} ${place.spaceId}`.replace('  ', ' '));
  setTitle(title);
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-page]')) {
    link.href = address(place.spaceId, link.dataset['page']);
    if (link.dataset['page'] === place.page) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  goOn();
  if (!moved) return;
  // For users of keyboards and screen readers.
  byId(views['page-view']).focus();
  scrollTo(0, 0);
}

function start(): void {
  applyChoices();
  startTips();
  startSettings(() => view?.space.redraw());
  startShortcuts(() => view?.space.refresh());
  byId('sign-in-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const key = byId<HTMLInputElement>('key').value.trim();
    const problem = byId('problem');
    // A key copied from where it is shortened has a “…”, which no header can carry.
    if (!/^[\x21-\x7e]+$/.test(key)) {
      setText(problem, 'Enter the whole API key: it begins with mk_ and has no spaces and no “…”.');
      return;
    }
    setText(problem, await enter(key));
    if (problem.textContent !== '') return;
    // The address is of a space of the organization before.
    if (session.key !== undefined && orgOf(session.key) !== orgOf(key)) history.replaceState(null, '', '#/');
    session.keep();
    session.key = key;
    byId<HTMLInputElement>('key').value = '';
    await follow(true);
  });
  byId('sign-out').addEventListener('click', () => {
    session.forget();
    known = [];
    signIn();
    byId('key').focus();
  });
  byId('another').addEventListener('click', () => {
    signIn();
    byId('key').focus();
  });
  byId('others').addEventListener('click', ({ target }) => {
    const org = target instanceof HTMLElement ? target.dataset['org'] : undefined;
    const key = session.others.get(org ?? '');
    if (key !== undefined) void switchTo(key);
  });
  const menu = byId('menu');
  const showMenu = (isOpen: boolean): void => {
    menu.setAttribute('aria-expanded', String(isOpen));
    byId('pages').classList.toggle('open', isOpen);
  };
  menu.addEventListener('click', () => showMenu(menu.getAttribute('aria-expanded') !== 'true'));
  addEventListener('hashchange', () => showMenu(false));
  byId('find').addEventListener('submit', (event) => {
    event.preventDefault();
    const q = byId<HTMLInputElement>('find-text').value.trim();
    if (view && q !== '') location.hash = address(view.spaceId, 'find', { q });
  });
  byId('more-spaces').addEventListener('click', () => void readMoreSpaces());
  const pause = byId('pause');
  pause.addEventListener('click', () => {
    pauses.byHand = !pauses.byHand;
    pause.setAttribute('aria-pressed', String(pauses.byHand));
    goOn();
  });
  byId('skip').addEventListener('click', (event) => {
    event.preventDefault();
    byId('content').focus();
  });
  document.addEventListener('visibilitychange', () => {
    pauses.hidden = document.hidden;
    if (view) goOn();
  });
  addEventListener('hashchange', () => void follow(true));
  void follow(false);
}

start();
