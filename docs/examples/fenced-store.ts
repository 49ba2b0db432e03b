// A lock with a fence: two writers share a file, and one of them sleeps through its lease. Its later write is refused, because
// the file keeps the fence of its last writer. The lock alone could not prevent that write: a stalled process does not notice
// that its lease has ended.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMuster } from 'muster-client';

const { MUSTER_URL: url, MUSTER_KEY: key, MUSTER_SPACE: spaceId } = process.env;
const muster = createMuster({ url, key, spaceId });

/** A file that refuses text with an earlier fence. If several processes write, the check and the write must be one step. */
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

// The first writer holds the lock and then stalls: it neither renews nor notices anything.
const asked = { poolId, scopeId: crypto.randomUUID(), holder: 'sleeper', leaseSeconds: 5 };
const sleeper = await muster.pool.acquire(asked);
file.write('a draft', sleeper.fence ?? 0);

// The second writer waits for the lock. The client renews the lease, and aborts `signal` if it is lost nevertheless.
await muster.pool({ poolId }).hold(
  ({ fence, signal }) => {
    signal.throwIfAborted();
    file.write('the final report', fence);
  },
  { holder: 'successor' },
);

// The first writer wakes up, and believes that it still holds the lock.
try {
  file.write('a draft, continued', sleeper.fence ?? 0);
} catch (error) {
  console.log(`the sleeper is refused: ${(error as Error).message}`);
}
const { state } = await muster.hold.view({ holdId: sleeper.id });
console.log(`its hold has ${state}; the file says: ${file.read().text}`);
rmSync(folder, { recursive: true });
