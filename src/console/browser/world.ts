import type { Rights } from './api.ts';
import { shortId } from './format.ts';
import type { Mailbox, Waits } from './records.ts';
import type { Scopes } from './scopes.ts';

interface Named {
  readonly name: string;
  /** Of a budget. */
  readonly scale?: number;
  readonly currency?: string;
}

/** What panels share of their responses. */
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
  /** Increases with every new name. */
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

  learnMailboxes(mailboxes: readonly Mailbox[]): void {
    for (const { id, name } of mailboxes) this.name(id, { name });
  }

  named(id: string): Named {
    return this.#named.get(id) ?? { name: shortId(id) };
  }
}
