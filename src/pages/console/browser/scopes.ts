/** How many scopes to remember; the least recently seen are dropped first, several at a time. */
const maxScopes = 1_000;
const slack = 200;

interface ScopeNode {
  readonly id: string;
  /** null for a root, undefined if unknown. */
  parentId: string | null | undefined;
  /** When it was last seen, in ISO 8601. */
  heardAt: string;
}

/**
 * The scopes seen in events, waits, groups and barriers, so that a run's live journal can include the scopes below it.
 */
export class Scopes {
  readonly #known = new Map<string, ScopeNode>();

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

  /** From the scope up to its root. */
  #path(scope: ScopeNode): ScopeNode[] {
    const path: ScopeNode[] = [];
    for (let at: ScopeNode | undefined = scope; at; at = this.#known.get(at.parentId ?? '')) path.push(at);
    return path;
  }

  #byAge(): ScopeNode[] {
    return [...this.#known.values()].sort((a, b) => (a.heardAt < b.heardAt ? -1 : 1));
  }

  #forget(): void {
    for (const { id } of this.#byAge().slice(0, slack)) this.#known.delete(id);
  }
}
