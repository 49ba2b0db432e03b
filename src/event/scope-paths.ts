import type { Scripts } from '../redis/scripts.ts';

/** A scope's parent never changes, so what was read once stays right; this many are kept. */
const mostPaths = 50_000;

/** The paths of scopes, as far as this process has needed them. */
export class ScopePaths {
  readonly #scripts: Scripts;
  /** `spaceId scopeId` to the ids from the root to the scope. */
  readonly #paths = new Map<string, string>();

  constructor(scripts: Scripts) {
    this.#scripts = scripts;
  }

  /** Reads those of the scopes that are not known yet. */
  async know(org: string, spaceId: string, scopeIds: Iterable<string>): Promise<void> {
    const unknown = [...new Set(scopeIds)].filter((id) => id !== '' && !this.#paths.has(`${spaceId} ${id}`));
    if (unknown.length === 0) return;
    const paths = await this.#scripts.run('event/paths', org, { spaceId, requestId: '', scopeIds: unknown.join() });
    if (this.#paths.size + unknown.length > mostPaths) this.#paths.clear();
    for (const [index, id] of unknown.entries()) {
      const path = paths[index];
      if (typeof path === 'string') this.#paths.set(`${spaceId} ${id}`, path);
    }
  }

  /** Whether a scope lies in the subtree of another; `know` has been asked about it. */
  isBelow(spaceId: string, scopeId: string, above: string): boolean {
    return this.#paths.get(`${spaceId} ${scopeId}`)?.includes(above) ?? false;
  }
}
