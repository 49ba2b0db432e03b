import { pageReply } from '../../src/event/page.ts';
import type { JournalEntry } from '../../src/event/segment.ts';
import type { World } from './world.ts';

const read = { script: 'event/read', reply: pageReply };

/** All entries of a space's journal, packed or not, without a request. */
export async function journalOf({ service, org, spaceId }: World): Promise<JournalEntry[]> {
  const all: JournalEntry[] = [];
  for (let [cursor, epoch] = ['', '']; ; ) {
    const page = await service.journal.page({ org, spaceId }, { cursor, epoch, limit: 500 }, (args) =>
      service.scripts.ask(read, org, { ...args, spaceId, requestId: '', from: '' }),
    );
    if (page.entries.length === 0) return all;
    all.push(...(page.entries as JournalEntry[]));
    cursor = page.last;
    epoch = page.epoch;
  }
}
