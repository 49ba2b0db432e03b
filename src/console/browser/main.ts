import { Api, Failure } from './api.ts';
import { byId } from './dom.ts';
import { isUuid, placeOf, spaceAddress } from './place.ts';
import type { Census } from './records.ts';
import { SpaceView } from './space-view.ts';

const storedKey = 'muster.key';

/** The key of this tab, gone when it closes: never in the URL, a cookie or persistent storage. */
const session = {
  get key(): string | undefined {
    return sessionStorage.getItem(storedKey) ?? undefined;
  },
  set key(key: string | undefined) {
    if (key === undefined) sessionStorage.removeItem(storedKey);
    else sessionStorage.setItem(storedKey, key);
  },
};

/** Reasons to pause reading. */
const pauses = { byHand: false, hidden: document.hidden };
let opened = 0;
let view: { readonly spaceId: string; readonly space: SpaceView } | undefined;

function status(text: string): void {
  const line = byId('status');
  // Screen readers announce every change, so don't repeat the same text.
  if (line.textContent !== text) line.textContent = text;
}

function showOnly(id: 'sign-in' | 'space-view' | 'run-view'): void {
  for (const one of ['sign-in', 'space-view', 'run-view']) byId(one).hidden = one !== id;
  const isIn = id !== 'sign-in';
  byId('journal').hidden = !isIn;
  byId('session').hidden = !isIn;
  document.title = { 'sign-in': 'Sign in', 'space-view': 'Space', 'run-view': 'Run' }[id].concat(' – Muster console');
}

function signIn(problem = ''): void {
  view?.space.close();
  view = undefined;
  showOnly('sign-in');
  status('');
  byId('problem').textContent = problem;
  const space = byId<HTMLInputElement>('space');
  space.value ||= placeOf(location.hash).spaceId ?? '';
}

/** The failure's message, with advice if the key lacks a permission. */
function explain({ code, message }: Failure, key: string): string {
  if (code !== 'PERMISSION_DENIED' || !message.includes('coordination_read')) return `${message}.`;
  const org = /^mk_([a-z0-9-]+)_/.exec(key)?.[1] ?? '<org>';
  const command = `npm run -s muster -- key create --org ${org} --permissions coordination_read`;
  return `${message}: it is the only permission that the console needs. Create such a key with: ${command}`;
}

function goOn(): void {
  const isPaused = pauses.byHand || pauses.hidden;
  if (isPaused) {
    view?.space.pause();
    status(pauses.byHand ? 'Paused.' : 'Paused while the tab is hidden.');
  } else view?.space.resume();
}

/** Opens the space if the key may read it. Otherwise returns the problem. */
async function open(spaceId: string, key: string): Promise<string> {
  const turn = ++opened;
  const api = new Api(spaceId, key);
  let asOf: string;
  try {
    ({ asOf } = await api.get<Census>('/census'));
  } catch (error) {
    if (error instanceof Failure) return explain(error, key);
    throw error;
  }
  // The user has navigated away meanwhile.
  if (turn !== opened) return '';
  session.key = key;
  view?.space.close();
  const space = new SpaceView(api, asOf, {
    status,
    refused: (failure) => {
      session.key = undefined;
      signIn(explain(failure, key));
      byId('sign-in-title').focus();
    },
  });
  view = { spaceId, space };
  byId('space-id').textContent = spaceId;
  return '';
}

/** Shows the place in the URL. */
async function follow(moved: boolean): Promise<void> {
  const { spaceId, scopeId, section } = placeOf(location.hash);
  const { key } = session;
  if (spaceId === undefined || key === undefined) {
    signIn();
    return;
  }
  if (view?.spaceId !== spaceId) {
    const problem = await open(spaceId, key);
    if (problem !== '') {
      signIn(problem);
      return;
    }
  }
  if (view?.spaceId !== spaceId) return;
  showOnly(scopeId === undefined ? 'space-view' : 'run-view');
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-section]'))
    link.href = spaceAddress(spaceId, link.dataset['section'] || undefined);
  byId('run-id').textContent = scopeId ?? '';
  view.space.show(scopeId);
  goOn();
  if (moved) focusOn(section, scopeId);
}

/** Moves the focus to the new content, for users of keyboards and screen readers. */
function focusOn(section: string | undefined, scopeId: string | undefined): void {
  const title = document.getElementById(`${section ?? (scopeId === undefined ? 'space' : 'run')}-title`);
  title?.focus();
  if (section === undefined) scrollTo(0, 0);
}

function start(): void {
  byId('sign-in-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const key = byId<HTMLInputElement>('key').value.trim();
    const spaceId = byId<HTMLInputElement>('space').value.trim().toLowerCase();
    const problem = byId('problem');
    if (key === '' || !isUuid(spaceId)) {
      problem.textContent = 'Enter an API key, such as mk_dev_…, and a space id, which is a UUID.';
      return;
    }
    problem.textContent = await open(spaceId, key);
    if (problem.textContent !== '') return;
    byId<HTMLInputElement>('key').value = '';
    if (placeOf(location.hash).spaceId === spaceId) await follow(true);
    else location.hash = spaceAddress(spaceId);
  });
  byId('run-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const scopeId = byId<HTMLInputElement>('scope').value.trim().toLowerCase();
    byId('run-problem').textContent = isUuid(scopeId) ? '' : 'Enter a scope id, which is a UUID.';
    if (view && isUuid(scopeId)) location.hash = `${spaceAddress(view.spaceId)}/run/${scopeId}`;
  });
  byId('sign-out').addEventListener('click', () => {
    session.key = undefined;
    signIn();
    byId('key').focus();
  });
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
