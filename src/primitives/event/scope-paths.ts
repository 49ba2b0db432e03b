import { raw } from '../../engine/declare/field.ts';
import type { Value } from '../../engine/declare/value.ts';
import type { Scripts } from '../../engine/redis/scripts.ts';

/** The reply `paths` has the path of each requested scope, in order; null for an unknown scope. */
const pathsCall = { script: 'event/paths', reply: { paths: raw<Value[]>() } };

/** A cache of scopes' paths. Paths never change, because a scope's parent never does. */
export class ScopePaths {
  readonly #scripts: Scripts;
  readonly #maxPaths: number;
  /** From `spaceId scopeId` to the ids from the root to the scope; the most recently used last. */
  readonly #paths = new Map<string, string>();

  /** maxPaths must not be less than the number of scopes in a batch. */
  constructor(scripts: Scripts, maxPaths = 50_000) {
    this.#scripts = scripts;
    this.#maxPaths = maxPaths;
  }

  /** Reads the paths that are not cached, and evicts the least recently used ones. */
  async load(org: string, spaceId: string, scopeIds: Iterable<string>): Promise<void> {
    const unknown: string[] = [];
    for (const id of new Set(scopeIds)) {
      if (id === '') continue;
      const path = this.#paths.get(`${spaceId} ${id}`);
      if (path === undefined) unknown.push(id);
      else this.#put(`${spaceId} ${id}`, path);
    }
    if (unknown.length === 0) return;
    const { paths } = await this.#scripts.ask(pathsCall, org, { spaceId, requestId: '', scopeIds: unknown.join() });
    for (const [index, id] of unknown.entries()) {
      const path = paths[index];
      if (typeof path === 'string') this.#put(`${spaceId} ${id}`, path);
    }
    for (const name of this.#paths.keys()) {
      if (this.#paths.size <= this.#maxPaths) break;
      this.#paths.delete(name);
    }
  }

  #put(name: string, path: string): void {
    this.#paths.delete(name);
    this.#paths.set(name, path);
  }

  /** Whether a scope is in the subtree of another; its path must be loaded. */
  isBelow(spaceId: string, scopeId: string, above: string): boolean {
    return this.#paths.get(`${spaceId} ${scopeId}`)?.includes(above) ?? false;
  }
}
