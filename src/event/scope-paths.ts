import { raw } from '../declare/field.ts';
import type { Value } from '../declare/value.ts';
import type { Scripts } from '../redis/scripts.ts';

/** `paths`: of the scopes asked about, in their order; null for one that is not there. */
const pathsCall = { script: 'event/paths', reply: { paths: raw<Value[]>() } };

/** The paths of scopes, as far as this process has needed them. A scope's parent never changes: what was read stays right. */
export class ScopePaths {
  readonly #scripts: Scripts;
  readonly #most: number;
  /** `spaceId scopeId` to the ids from the root to the scope; what was asked about last stands last. */
  readonly #paths = new Map<string, string>();

  /** `most`: how many are kept; never fewer than a batch has. */
  constructor(scripts: Scripts, most = 50_000) {
    this.#scripts = scripts;
    this.#most = most;
  }

  /** Reads those of the scopes that are not known yet; what others asked about longest ago is forgotten for them. */
  async know(org: string, spaceId: string, scopeIds: Iterable<string>): Promise<void> {
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
      if (this.#paths.size <= this.#most) break;
      this.#paths.delete(name);
    }
  }

  #put(name: string, path: string): void {
    this.#paths.delete(name);
    this.#paths.set(name, path);
  }

  /** Whether a scope lies in the subtree of another; `know` has been asked about it. */
  isBelow(spaceId: string, scopeId: string, above: string): boolean {
    return this.#paths.get(`${spaceId} ${scopeId}`)?.includes(above) ?? false;
  }
}
