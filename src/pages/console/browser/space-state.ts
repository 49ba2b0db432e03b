import type { Rate, Rights } from './api.ts';
import { shortId } from './format.ts';
import type { KindName } from './kinds.ts';
import type { Backlog, Census, Destination, Limits, Mailbox, Receivers, Scope, Waits } from './records.ts';
import type { Scopes } from './scopes.ts';
import { serverClock } from './server-clock.ts';

export interface Named {
  /** null: it has none, or is gone. */
  readonly name: string | null;
  /** Of a budget. */
  readonly scale?: number | undefined;
  readonly currency?: string | undefined;
}

/** More than any page shows. */
const maxNames = 5_000;

/** State that the panels of a space share. */
export class SpaceState {
  readonly spaceId: string;
  readonly scopes: Scopes;
  waits: Waits | undefined;
  /** Of the whole space. */
  receivers: Receivers | undefined;
  /** The newest ones. */
  mailboxes: readonly Mailbox[] = [];
  /** The requests per minute that are left, as of the last answer. */
  rates: readonly Rate[] = [];
  limits: Limits | undefined;
  /** The backlog and the census, as last read. */
  figures: { readonly backlog: Backlog; readonly census: Census } | undefined;
  /** The organization's name, if the key has it. */
  readonly org: string | undefined;
  /** The key's permissions. A button is shown only if the key may use it. */
  readonly can: Rights;
  /** The names of runs, mailboxes, budgets and so on, by id. Beyond maxNames, the oldest are dropped. */
  readonly #named = new Map<string, Named>();
  /** Objects shown by their ids because their names are not known yet. */
  readonly #unnamed = new Map<string, KindName>();
  /** The number of disabled webhook destinations, and the active ones whose last attempts failed. */
  disabled = 0;
  failing: readonly Destination[] = [];
  /** Budgets with nothing left, among the newest ones. */
  usedUp: readonly { readonly id: string; readonly name: string }[] = [];
  /** Increases with every change that panels must be redrawn for: of names, receivers, destinations or used-up budgets. */
  namesVersion = 0;

  constructor(spaceId: string, org: string | undefined, can: Rights, scopes: Scopes) {
    this.spaceId = spaceId;
    this.org = org;
    this.can = can;
    this.scopes = scopes;
  }

  /** Ages are measured by the server's clock. */
  setClock(asOf: string): void {
    serverClock.aheadMs = Date.parse(asOf) - Date.now();
  }

  now(): number {
    return serverClock.now();
  }

  name(id: string, named: Named): void {
    // An object without a name is shown by its id, as one with an unknown name is: nothing to redraw.
    if ((this.#named.get(id)?.name ?? null) !== named.name) this.namesVersion++;
    this.#named.set(id, named);
    this.#unnamed.delete(id);
    const [oldest] = this.#named.keys();
    if (this.#named.size > maxNames && oldest !== undefined) this.#named.delete(oldest);
  }

  /** Some of the objects whose names still have to be read. */
  unnamed(limit: number): (readonly [id: string, kind: KindName])[] {
    return [...this.#unnamed].slice(0, limit);
  }

  learnDestinations(destinations: readonly Destination[]): void {
    const isOff = ({ state }: Destination): boolean => state === 'DISABLED';
    const disabled = destinations.filter(isOff).length;
    const failing = destinations.filter((one) => !isOff(one) && one.failingSince !== null);
    const attempts = (all: readonly Destination[]): string =>
      all.map(({ id, consecutiveFailures }) => `${id} ${consecutiveFailures}`).join();
    if (disabled !== this.disabled || attempts(failing) !== attempts(this.failing)) this.namesVersion++;
    this.disabled = disabled;
    this.failing = failing;
  }

  learnReceivers(receivers: Receivers): void {
    this.receivers = receivers;
    // The mailboxes are shown with their workers.
    this.namesVersion++;
  }

  learnLimits(limits: Limits): void {
    if (JSON.stringify(limits) !== JSON.stringify(this.limits)) this.namesVersion++;
    this.limits = limits;
  }

  learnUsedUp(usedUp: SpaceState['usedUp']): void {
    if (usedUp.length !== this.usedUp.length) this.namesVersion++;
    this.usedUp = usedUp;
  }

  learnMailboxes(mailboxes: readonly Mailbox[]): void {
    for (const { id, name } of mailboxes) this.name(id, { name });
  }

  /** The newest mailboxes, for everything that shows which need somebody. */
  learnNewest(mailboxes: readonly Mailbox[]): void {
    this.learnMailboxes(mailboxes);
    this.mailboxes = mailboxes;
    this.namesVersion++;
  }

  learnRuns(runs: readonly Pick<Scope, 'id' | 'name' | 'parentScopeId' | 'createdAt'>[]): void {
    for (const { id, name, parentScopeId, createdAt } of runs) {
      this.name(id, { name });
      this.scopes.learn(id, createdAt, parentScopeId);
    }
  }

  /** An object's name, or its id shortened to fit a table. With `kind`, an unknown name is read (names.ts). */
  named(id: string, kind?: KindName): Named & { readonly name: string } {
    const name = this.nameOf(id, kind) ?? shortId(id);
    return { ...this.#named.get(id), name };
  }

  /** null: it has none, or it is not known yet. */
  nameOf(id: string, kind?: KindName): string | null {
    const known = this.#named.get(id);
    if (!known && kind !== undefined) this.#unnamed.set(id, kind);
    return known?.name ?? null;
  }
}
