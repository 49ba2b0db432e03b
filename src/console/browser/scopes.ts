/** How many scopes to remember; the least recently used are dropped first, several at a time. */
const maxScopes = 1_000;
const slack = 200;

export interface ScopeNode {
  readonly id: string;
  readonly below: readonly ScopeNode[];
}

interface Known {
  readonly id: string;
  /** null for a root, undefined if unknown. */
  parentId: string | null | undefined;
  /** When it last occurred, in ISO 8601. */
  heardAt: string;
}

/** The scopes that occur in events, waits, groups and barriers, since no endpoint lists all of them. */
export class Scopes {
  readonly #known = new Map<string, Known>();

  /** Remembers a scope; an undefined parent does not replace a known one. */
  learn(id: string, heardAt: string, parentId?: string | null): void {
    const known = this.#known.get(id) ?? { id, parentId, heardAt };
    if (parentId !== undefined) known.parentId = parentId;
    this.#known.set(id, known);
    if (parentId && !this.#known.has(parentId)) this.learn(parentId, heardAt);
    for (const scope of this.#path(known)) if (heardAt > scope.heardAt) scope.heardAt = heardAt;
    if (this.#known.size > maxScopes + slack) this.#forget();
  }

  /** A scope and all known scopes below it. */
  subtree(id: string): Set<string> {
    const found = new Set([id]);
    for (const scope of this.#known.values()) {
      const path = this.#path(scope).map((above) => above.id);
      if (path.includes(id)) for (const one of path.slice(0, path.indexOf(id))) found.add(one);
    }
    return found;
  }

  /** The trees of known scopes, most recent first. */
  trees(): ScopeNode[] {
    const below = new Map<string | null, Known[]>();
    for (const scope of this.#byAge().reverse()) {
      const parentId = scope.parentId && this.#known.has(scope.parentId) ? scope.parentId : null;
      below.set(parentId, [...(below.get(parentId) ?? []), scope]);
    }
    const nodes = (parentId: string | null): ScopeNode[] =>
      (below.get(parentId) ?? []).map(({ id }) => ({ id, below: nodes(id) }));
    return nodes(null);
  }

  /** From the scope up to its root. */
  #path(scope: Known): Known[] {
    const path: Known[] = [];
    for (let at: Known | undefined = scope; at; at = this.#known.get(at.parentId ?? '')) path.push(at);
    return path;
  }

  #byAge(): Known[] {
    return [...this.#known.values()].sort((a, b) => (a.heardAt < b.heardAt ? -1 : 1));
  }

  #forget(): void {
    for (const { id } of this.#byAge().slice(0, slack)) this.#known.delete(id);
  }
}
