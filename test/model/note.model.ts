/** A note as it stands. */
export interface Note {
  readonly version: number;
  readonly value: unknown;
  readonly holder: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A claim on the one message of the run. */
interface Claim {
  readonly token: string;
  readonly holder: string;
  readonly endsAt: number;
}

/** How the notes of a scope behave. */
export class NotesModel {
  readonly notes = new Map<string, Note>();
  puts = 0;
  deletions = 0;
  isCancelled = false;
  #claim: Claim | undefined;

  claim(claim: Claim): void {
    this.#claim = claim;
  }

  isClaimed(now: number): boolean {
    return !this.isCancelled && this.#claim !== undefined && now < this.#claim.endsAt;
  }

  /** Returns the status or an error code. token: of the claim that must be live; null for none. */
  put(key: string, value: unknown, ifVersion: number | null, token: string | null, now: number): string {
    const isHeld = this.isClaimed(now) && this.#claim?.token === token;
    if (token !== null && !isHeld) return 'CLAIM_LOST';
    if (this.isCancelled) return 'SCOPE_CANCELLED';
    const known = this.notes.get(key);
    if (ifVersion !== null && ifVersion !== (known?.version ?? 0)) return 'VERSION_CONFLICT';
    this.puts++;
    const holder = token === null ? null : (this.#claim?.holder ?? null);
    this.notes.set(key, { version: this.puts, value, holder, createdAt: known?.createdAt ?? now, updatedAt: now });
    return known ? '200' : '201';
  }

  delete(key: string, ifVersion: number | null): string {
    const known = this.notes.get(key);
    if (!known) return 'NOTE_NOT_FOUND';
    if (this.isCancelled) return 'SCOPE_CANCELLED';
    if (ifVersion !== null && ifVersion !== known.version) return 'VERSION_CONFLICT';
    this.notes.delete(key);
    this.deletions++;
    return '204';
  }

  /** By key. */
  list(prefix: string): [key: string, note: Note][] {
    return [...this.notes].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1));
  }
}
