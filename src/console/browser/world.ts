import type { Rights } from './api.ts';
import { shortId } from './format.ts';
import type { History } from './history.ts';
import type { Happening, Mailbox, Waits } from './records.ts';
import type { Scopes } from './scopes.ts';

/** More than what happens during a few reads. */
const maxHeard = 5_000;

interface Named {
  readonly name: string;
  /** Of a budget. */
  readonly scale?: number;
  readonly currency?: string;
}

/** Responses that panels share. */
export class World {
  readonly spaceId: string;
  readonly scopes: Scopes;
  waits: Waits | undefined;
  /** Those of the last answers. */
  mailboxes: readonly Mailbox[] = [];
  /** Without them no button is shown. */
  readonly can: Rights;
  /** Mailboxes, budgets and allowances by id. */
  readonly #named = new Map<string, Named>();
  /** Once it has been read. */
  history: History | undefined;
  /** Events that arrive while it is being read. */
  #heard: Happening[] = [];
  #sampled: readonly [backlog: number, oldestSeconds: number | null] | undefined;
  /** Webhook destinations that hear nothing. */
  disabled = 0;
  /** Budgets of which nothing is left, of the newest ones. */
  usedUp: readonly { readonly id: string; readonly name: string }[] = [];
  /** Increases with every new name, and with what else other panels show. */
  namesVersion = 0;
  #clockAhead = 0;

  constructor(spaceId: string, can: Rights, scopes: Scopes) {
    this.spaceId = spaceId;
    this.can = can;
    this.scopes = scopes;
  }

  /** Ages go by the server's clock. */
  setClock(asOf: string): void {
    this.#clockAhead = Date.parse(asOf) - Date.now();
  }

  now(): number {
    return Date.now() + this.#clockAhead;
  }

  takeHistory(history: History): void {
    this.history = history;
    history.add(this.#heard);
    this.#heard = [];
    if (this.#sampled) history.sample(this.now(), ...this.#sampled);
  }

  /** Events in between are unknown: the history has to be read again. */
  dropHistory(): void {
    this.history = undefined;
    this.#heard = [];
  }

  hear(events: readonly Happening[]): void {
    if (this.history) this.history.add(events);
    else this.#heard = [...this.#heard, ...events].slice(-maxHeard);
  }

  sample(backlog: number, oldestSeconds: number | null): void {
    this.#sampled = [backlog, oldestSeconds];
    this.history?.sample(this.now(), backlog, oldestSeconds);
  }

  name(id: string, named: Named): void {
    if (this.#named.get(id)?.name !== named.name) this.namesVersion++;
    this.#named.set(id, named);
  }

  learnDisabled(disabled: number): void {
    if (disabled !== this.disabled) this.namesVersion++;
    this.disabled = disabled;
  }

  learnUsedUp(usedUp: World['usedUp']): void {
    if (usedUp.length !== this.usedUp.length) this.namesVersion++;
    this.usedUp = usedUp;
  }

  learnMailboxes(mailboxes: readonly Mailbox[]): void {
    for (const { id, name } of mailboxes) this.name(id, { name });
  }

  named(id: string): Named {
    return this.#named.get(id) ?? { name: shortId(id) };
  }
}
