import type { Api, Failure } from './api.ts';
import { byId, el, patch } from './dom.ts';
import { Journal } from './journal.ts';
import { drawEveryMs, JournalList } from './journal-list.ts';
import { barriers, groups } from './panels/meetings.ts';
import { backlog, census } from './panels/now.ts';
import type { Panel } from './panels/panel.ts';
import { allowances, budgets, queues } from './panels/resources.ts';
import { runPanel } from './panels/run.ts';
import { renderRuns } from './panels/runs.ts';
import { schedules } from './panels/schedules.ts';
import { waits } from './panels/waits.ts';
import { ageText } from './parts.ts';
import { Poller } from './poller.ts';
import type { Happening } from './records.ts';
import { Scopes } from './scopes.ts';
import { World } from './world.ts';

const ofSpace: readonly Panel[] = [backlog, waits, queues, budgets, allowances, schedules, groups, barriers, census];
/** Panels with the names that a run's records refer to. */
const names: readonly Panel[] = [queues, budgets, allowances];

interface SpaceListener {
  status(text: string): void;
  /** The key or the space is no longer valid. */
  refused(failure: Failure): void;
}

/** One space, live, until it is closed. */
export class SpaceView {
  readonly #world: World;
  readonly #poller: Poller;
  readonly #journal: Journal;
  readonly #list: JournalList;
  readonly #listener: SpaceListener;
  readonly #closing = new AbortController();
  #running: AbortController | undefined;
  #isLive = false;
  #runsTimer: ReturnType<typeof setTimeout> | undefined;
  #run: Panel | undefined;
  /** The responses shown, to redraw them when a name becomes known. */
  #shown = new Map<Panel, unknown>();

  /** @param asOf the server's time, now */
  constructor(api: Api, asOf: string, listener: SpaceListener) {
    this.#listener = listener;
    this.#world = new World(api.spaceId, new Scopes());
    this.#world.setClock(asOf);
    this.#poller = new Poller(api, {
      answered: (panel, answer) => this.#answered(panel, answer),
      failed: (panel, failure) => this.#failed(panel, failure),
    });
    this.#list = new JournalList(this.#world, this.#closing.signal);
    this.#journal = new Journal(api, {
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
    for (const { id } of ofSpace) patch(byId(id), [el('p', { class: 'empty' }, 'Reading…')]);
    const timer = setInterval(() => this.#tick(), 1000);
    this.#closing.signal.addEventListener('abort', () => clearInterval(timer));
  }

  /** The whole space, or one of its runs. */
  show(scopeId: string | undefined): void {
    if (this.#run) this.#shown.delete(this.#run);
    this.#run = scopeId === undefined ? undefined : runPanel(scopeId);
    if (this.#run) patch(byId('run'), [el('p', { class: 'empty' }, 'Reading…')]);
    this.#poller.show(this.#run ? [this.#run, ...names] : ofSpace);
    this.#list.select(scopeId === undefined ? undefined : () => this.#world.scopes.subtree(scopeId));
    if (!this.#run) this.#drawRuns();
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
    this.#closing.abort();
  }

  #answered(panel: Panel, answer: unknown): void {
    // Clears an earlier failure.
    if (this.#isLive) this.#listener.status('Live.');
    const { namesVersion } = this.#world;
    panel.learn(answer as never, this.#world);
    // The previous run's response may arrive late.
    if (panel.id === 'run' && panel !== this.#run) return;
    this.#shown.set(panel, answer);
    const isNaming = namesVersion !== this.#world.namesVersion;
    for (const [other, last] of this.#shown) if (isNaming || other === panel) this.#draw(other, last);
    if (!this.#run) this.#drawRuns();
  }

  #failed(panel: Panel, failure: Failure): void {
    if (this.#isOver(failure)) return;
    const permission = failure.code === 'PERMISSION_DENIED' ? 'Not shown: ' : '';
    if (failure.isTransient) this.#showTransient(failure);
    else patch(byId(panel.id), [el('p', { class: 'problem' }, `${permission}${failure.message}.`)]);
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
    const at = new Date(Date.now() + retryAfterMs).toLocaleTimeString('en-GB');
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
    if (!this.#run) this.#runsTimer ??= setTimeout(() => this.#drawRuns(), drawEveryMs);
  }

  #draw(panel: Panel, answer: unknown): void {
    patch(byId(panel.id), panel.render(answer as never, this.#world));
  }

  #drawRuns(): void {
    clearTimeout(this.#runsTimer);
    this.#runsTimer = undefined;
    patch(byId('runs'), renderRuns(this.#world));
  }

  #tick(): void {
    for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-ticks]'))
      time.textContent = ageText(time.dateTime, this.#world);
  }
}
