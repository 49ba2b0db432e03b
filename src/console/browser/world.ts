import { shortId } from './format.ts';
import type { Waits } from './records.ts';
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
  /** Mailboxes, budgets and allowances by id. */
  readonly #named = new Map<string, Named>();
  /** Increases with every new name. */
  namesVersion = 0;
  #clockAhead = 0;

  constructor(spaceId: string, scopes: Scopes) {
    this.spaceId = spaceId;
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

  named(id: string): Named {
    return this.#named.get(id) ?? { name: shortId(id) };
  }
}
