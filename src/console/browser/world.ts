import type { Rights } from './api.ts';
import { shortId } from './format.ts';
import type { Destination, Mailbox, Waits } from './records.ts';
import type { Scopes } from './scopes.ts';

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
  /** Webhook destinations that hear nothing, and those whose last attempts failed. */
  disabled = 0;
  failing: readonly Destination[] = [];
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

  name(id: string, named: Named): void {
    if (this.#named.get(id)?.name !== named.name) this.namesVersion++;
    this.#named.set(id, named);
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
