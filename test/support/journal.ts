import pino from 'pino';
import { Scripts } from '../../src/engine/redis/scripts.ts';
import { Journal } from '../../src/primitives/event/journal.ts';
import { pageReply } from '../../src/primitives/event/page.ts';
import type { JournalEntry } from '../../src/primitives/event/segment.ts';
import { Segments } from '../../src/primitives/event/segments.ts';
import { product } from '../../src/primitives/primitives.ts';
import type { World } from './world.ts';

const read = { script: 'event/read', reply: pageReply };

/** The entries of a space's journal, packed or not, read without a request. */
export async function* entriesOf({ service, org, spaceId }: World): AsyncGenerator<JournalEntry> {
  const scripts = new Scripts(service.store, product.words);
  const journal = new Journal(scripts, new Segments(service.store), pino({ level: 'silent' }));
  for (let [cursor, epoch] = ['', '']; ; ) {
    const page = await journal.page({ org, spaceId }, { cursor, epoch, limit: 500 }, (args) =>
      scripts.ask(read, org, { ...args, spaceId, requestId: '' }),
    );
    if (page.entries.length === 0) return;
    yield* page.entries as JournalEntry[];
    cursor = page.last;
    epoch = page.epoch;
  }
}

/** All of them. */
export async function journalOf(world: World): Promise<JournalEntry[]> {
  const all: JournalEntry[] = [];
  for await (const entry of entriesOf(world)) all.push(entry);
  return all;
}
