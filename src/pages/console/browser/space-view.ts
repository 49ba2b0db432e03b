import { actions } from './actions.ts';
import { instants } from './answering.ts';
import { type Api, Failure, type Rights } from './api.ts';
import { ask } from './ask.ts';
import { countsOf } from './concerns.ts';
import { byId, el, patch, setHeading, setText } from './dom.ts';
import { momentText } from './format.ts';
import { Journal } from './journal.ts';
import { JournalList } from './journal-list.ts';
import { namesPanel } from './names.ts';
import type { Page } from './pages/page.ts';
import { pageOf } from './pages/pages.ts';
import { now, watch } from './panels/now.ts';
import type { Panel } from './panels/panel.ts';
import { ageText, agoText, reading } from './parts.ts';
import { address, type PageRef } from './place.ts';
import { Poller } from './poller.ts';
import { press } from './press.ts';
import type { Happening } from './records.ts';
import { Scopes } from './scopes.ts';
import { SpaceState } from './space-state.ts';

interface SpaceListener {
  status(text: string): void;
  /** How much on each page needs somebody. */
  counted(counts: ReadonlyMap<string, number>): void;
  /** The key or the space is no longer valid. */
  refused(failure: Failure): void;
}

/** Shows one space, live, until it is closed. */
export class SpaceView {
  readonly #api: Api;
  readonly #world: SpaceState;
  readonly #poller: Poller;
  readonly #journal: Journal;
  readonly #list: JournalList;
  readonly #listener: SpaceListener;
  /** Reads the names that pages lack. */
  readonly #names: Panel;
  readonly #closing = new AbortController();
  #running: AbortController | undefined;
  #isLive = false;
  #page: Page | undefined;
  /** The responses shown, to redraw them when a name becomes known. */
  #shown = new Map<Panel, unknown>();
  /** The last response of each panel, so that a panel of several pages need not be read again first. */
  readonly #last = new WeakMap<Panel, unknown>();

  /** @param asOf the server's time, now */
  constructor(api: Api, can: Rights, asOf: string, listener: SpaceListener) {
    this.#api = api;
    this.#listener = listener;
    this.#world = new SpaceState(api.spaceId, api.org, can, new Scopes());
    this.#world.setClock(asOf);
    this.#names = namesPanel(this.#world);
    this.#poller = new Poller(api, {
      answered: (panel, answer) => this.#answered(panel, answer),
      failed: (panel, failure) => this.#failed(panel, failure),
    });
    this.#list = new JournalList(this.#world, this.#closing.signal);
    this.#journal = new Journal(api, () => this.#world.now(), {
      happened: (events) => this.#happened(events),
      skipped: () => {
        this.#list.skipped();
        this.#poller.invalidate();
      },
      connected: () => {
        this.#isLive = true;
        listener.status('Live.');
      },
      failed: (failure) => this.#journalFailed(failure),
    });
    const { signal } = this.#closing;
    byId('content').addEventListener('click', (event) => void this.#clicked(event), { signal });
    const timer = setInterval(() => this.#tick(), 1000);
    signal.addEventListener('abort', () => clearInterval(timer));
  }

  show(place: PageRef): Page {
    // The dialog may ask about something that is no longer shown.
    byId<HTMLDialogElement>('ask').close();
    const page = pageOf(place, this.#world);
    const watching = page.panels.includes(now) ? [] : [watch];
    this.#page = { ...page, panels: [...page.panels, this.#names, ...watching] };
    this.#shown = new Map();
    setHeading(page.title, page.id);
    byId('page').replaceChildren(...page.content);
    press.forget();
    for (const panel of page.panels) {
      this.#fill(panel, [reading()]);
      const last = this.#last.get(panel);
      if (last !== undefined) this.#take(panel, last);
    }
    byId('journal').hidden = page.journalOf === undefined;
    const scopeId = page.journalOf || undefined;
    const scopes = scopeId === undefined ? undefined : () => this.#world.scopes.subtree(scopeId);
    const more = place.page === 'journal' ? undefined : address(this.#world.spaceId, 'journal', { scopeId });
    this.#list.select({ scopes, types: page.journalTypes, more });
    this.#poller.show(this.#page.panels);
    return page;
  }

  /** By the name of the page in the address. */
  counts(): ReadonlyMap<string, number> {
    return countsOf(this.#world);
  }

  /** Reads everything on the page again. */
  refresh(): void {
    for (const panel of this.#page?.panels ?? []) this.#poller.markStale(panel);
  }

  /** Shows everything on the page again, as it was read. */
  redraw(): void {
    for (const [panel, answer] of this.#shown) this.#draw(panel, answer);
    this.#list.draw();
  }

  /** Continues reading, including what changed meanwhile. */
  resume(): void {
    if (this.#running || this.#closing.signal.aborted) return;
    this.#running = new AbortController();
    this.#listener.status('Connecting…');
    void this.#poller.run(this.#running.signal);
    void this.#journal.follow(this.#running.signal);
  }

  /** Stops reading and closes connections. */
  pause(): void {
    this.#running?.abort();
    this.#running = undefined;
    this.#isLive = false;
  }

  close(): void {
    this.pause();
    byId<HTMLDialogElement>('ask').close();
    this.#closing.abort();
  }

  #answered(panel: Panel, answer: unknown): void {
    // Clears an earlier failure.
    if (this.#isLive && !this.#api.isQuiet) this.#listener.status('Live.');
    const { namesVersion } = this.#world;
    this.#world.rates = this.#api.rates;
    panel.learn(answer as never, this.#world);
    this.#take(panel, answer);
    this.#listener.counted(this.counts());
    const isNaming = namesVersion !== this.#world.namesVersion;
    if (isNaming) this.redraw();
  }

  #take(panel: Panel, answer: unknown): void {
    this.#last.set(panel, answer);
    this.#shown.set(panel, answer);
    this.#draw(panel, answer);
  }

  #failed(panel: Panel, failure: Failure): void {
    if (this.#isOver(failure)) return;
    const permission = failure.code === 'PERMISSION_DENIED' ? 'Not shown: ' : '';
    if (failure.isTransient) this.#showTransient(failure);
    else this.#fill(panel, [el('p', { class: 'problem' }, `${permission}${failure.text}`)]);
  }

  #journalFailed(failure: Failure): boolean {
    this.#isLive = false;
    if (this.#isOver(failure)) return false;
    // Without the journal, panels are polled at their fast rate.
    this.#poller.invalidate();
    this.#showTransient(failure);
    return true;
  }

  #showTransient({ status, message, retryAfterMs }: Failure): void {
    const at = momentText(Date.now() + retryAfterMs);
    this.#listener.status(status === 429 ? `Rate limited: reading again at ${at}.` : `Not live: ${message}. Retrying.`);
  }

  #isOver(failure: Failure): boolean {
    const isOver = failure.status === 401 || failure.code === 'SPACE_NOT_FOUND';
    if (isOver) this.#listener.refused(failure);
    return isOver;
  }

  #happened(events: readonly Happening[]): void {
    for (const event of events) {
      if (event.scopeId === null) continue;
      const parentId = event.type === 'scope.created' ? event.payload.parentScopeId : undefined;
      this.#world.scopes.learn(event.scopeId, event.occurredAt, parentId);
    }
    this.#poller.hear(events);
    this.#list.add(events);
  }

  #draw(panel: Panel, answer: unknown): void {
    this.#fill(panel, panel.render(answer as never, this.#world));
  }

  /** A panel without an element on the page is read only for what other panels learn from it. */
  #fill(panel: Panel, content: readonly Node[]): void {
    press.draw(panel.id, () => this.#place(panel, content));
  }

  #place(panel: Panel, content: readonly Node[]): void {
    const container = document.getElementById(panel.id);
    if (!container) return;
    const hadFocus = container.contains(document.activeElement);
    patch(container, content);
    if (hadFocus) this.#keepFocus(container);
  }

  /** If the focused element is gone, moves the focus to the heading above it rather than to the top of the page. */
  #keepFocus(near: Element | null): void {
    if (document.activeElement !== document.body) return;
    const heading = near?.closest('section')?.querySelector<HTMLElement>('h2[tabindex]');
    (heading ?? byId('page-title')).focus({ preventScroll: true });
  }

  /** One listener for all buttons, which come and go with every response. */
  async #clicked({ target }: Event): Promise<void> {
    const button = target instanceof Element ? target.closest<HTMLElement>('button[data-act], button[data-do]') : null;
    const { act = '', do: instantly = '', ...data } = button?.dataset ?? {};
    const instant = instants[instantly];
    if (instant) await this.#do(instant(this.#api, data), button);
    const action = actions[act];
    if (!action) return;
    try {
      const question = await action(this.#api, data);
      const page = this.#page;
      const near = button?.closest('section') ?? null;
      const hasActed = await ask(question);
      // The button may be gone by now.
      if (this.#page === page) this.#keepFocus(near);
      if (hasActed) this.refresh();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (!this.#isOver(error)) this.#listener.status(error.text);
    }
  }

  /** Performs an action without a confirmation, and shows on the page what was done. */
  async #do(doing: Promise<string>, button: HTMLElement | null): Promise<void> {
    const near = button?.closest('section') ?? null;
    const said = document.getElementById('done');
    const say = (text: string): void => {
      if (said) setText(said, text);
    };
    try {
      say(await doing);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (!this.#isOver(error)) say(error.text);
    }
    this.refresh();
    this.#keepFocus(near);
  }

  #tick(): void {
    for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-ticks]'))
      setText(time, time.dataset['ticks'] === 'ago' ? agoText(time.dateTime) : ageText(time.dateTime));
  }
}
