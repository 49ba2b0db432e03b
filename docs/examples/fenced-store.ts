// A lock that cannot hurt: two writers share a file, one of them sleeps through its lease, and what it writes afterwards is
// refused, because the file keeps the fence of its last writer. The lock alone could not do that: nobody can take a lease back
// from a process that does not look.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMuster } from 'muster-client';

const { MUSTER_URL: url, MUSTER_KEY: key, MUSTER_SPACE: spaceId } = process.env;
const muster = createMuster({ url, key, spaceId });

/** A file that takes no text of an earlier fence. Where several processes write, the check and the write must be one step. */
class FencedFile {
  readonly #path: string;
  constructor(path: string) {
    this.#path = path;
    this.#put('', 0);
  }
  read(): { text: string; fence: number } {
    return JSON.parse(readFileSync(this.#path, 'utf8'));
  }

  write(text: string, fence: number): void {
    if (fence < this.read().fence) throw new Error('somebody else has written since');
    this.#put(text, fence);
  }

  #put(text: string, fence: number): void {
    writeFileSync(`${this.#path}.new`, JSON.stringify({ text, fence }));
    renameSync(`${this.#path}.new`, this.#path);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'fenced-'));
const file = new FencedFile(join(folder, 'report.json'));
const { id: poolId } = await muster.pool.create({ name: `report-${crypto.randomUUID()}`, units: 1 });

// The first one holds the lock, and then stands still: it renews nothing, and notices nothing.
const asked = { poolId, scopeId: crypto.randomUUID(), holder: 'sleeper', leaseSeconds: 5 };
const sleeper = await muster.pool.acquire(asked);
file.write('a draft', sleeper.fence ?? 0);

// The second one waits for the lock. The client renews the lease, and aborts `signal` if it is lost all the same.
await muster.pool({ poolId }).hold(
  ({ fence, signal }) => {
    signal.throwIfAborted();
    file.write('the final report', fence);
  },
  { holder: 'successor' },
);

// The first one wakes up, and believes that it still holds the lock.
try {
  file.write('a draft, continued', sleeper.fence ?? 0);
} catch (error) {
  console.log(`the sleeper is refused: ${(error as Error).message}`);
}
const { state } = await muster.hold.view({ holdId: sleeper.id });
console.log(`its hold has ${state}; the file says: ${file.read().text}`);
rmSync(folder, { recursive: true });
