import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { fields, id, moment, optional } from '../engine/route/fields.ts';
import { Batch } from '../primitives/event/batch.ts';
import { DamagedPage } from '../primitives/event/damaged.ts';
import { timeOf } from '../primitives/event/entry-id.ts';
import { Filter, filterFields } from '../primitives/event/filter.ts';
import { Journal } from '../primitives/event/journal.ts';
import { EventNames } from '../primitives/event/names.ts';
import { type JournalPage, pageReply } from '../primitives/event/page.ts';
import { ScopePaths } from '../primitives/event/scope-paths.ts';
import { Segments } from '../primitives/event/segments.ts';
import type { Admin } from '../primitives/org/admin.ts';
import { checkOrg, checkUuid, InvalidInput } from '../primitives/org/input.ts';
import { product } from '../primitives/primitives.ts';

const pageSize = 500;
/** Delay before looking for new events. */
const lookMs = 500;

const read = { script: 'event/read', reply: pageReply };

export interface EventsQuery {
  readonly org: string;
  readonly spaceId: string;
  readonly from?: string;
  readonly types?: string;
  readonly aggregate?: string;
  readonly scope?: string;
  readonly follow?: true;
}

const schema = fields({
  ...filterFields(new EventNames(product.events)),
  scope: optional(id()),
  from: optional(moment()),
});

/**
 * Prints a space's journal, packed or not, one event per line; `print` resolves when the next line may follow. Skips
 * damaged events, and throws the first such failure (DamagedPage) at the end; with `follow`, which has no end, warns of it.
 * Throws Refusal: ORG_NOT_FOUND, SPACE_NOT_FOUND.
 */
export async function printEvents(
  { store, scripts }: Pick<Admin, 'store' | 'scripts'>,
  { org, spaceId, follow, ...typed }: EventsQuery,
  { print, warn }: { print: (line: string) => Promise<void>; warn: (line: string) => void },
): Promise<void> {
  const reader = { org: checkOrg(org), spaceId: checkUuid('spaceId', spaceId) };
  const { value, error } = schema.validate(typed);
  if (error) throw new InvalidInput(error.message);
  const { scope, from = 0, ...names } = value;
  const paths = new ScopePaths(scripts);
  const filter = new Filter({ ...names, scopeId: scope }, (below, above) =>
    paths.isBelow(reader.spaceId, below, above),
  );
  const journal = new Journal(scripts, new Segments(store), pino({ level: 'silent' }));
  let failure: unknown;
  for (let [cursor, epoch] = [from ? `since ${from}` : '', '']; ; ) {
    let page: JournalPage;
    try {
      page = await journal.page(reader, { cursor, epoch, limit: pageSize }, (args) =>
        scripts.ask(read, reader.org, { ...args, spaceId: reader.spaceId, requestId: '' }),
      );
    } catch (error) {
      if (!(error instanceof DamagedPage)) throw error;
      if (follow && failure === undefined) warn(error.message);
      failure ??= error;
      [cursor, epoch] = [error.place.last, error.epoch];
      continue;
    }
    const { entries, full, last } = new Batch(reader.spaceId, page, pageSize);
    if (scope !== undefined) await paths.load(reader.org, reader.spaceId, new Set(entries.map((one) => one.scopeId)));
    for (const entry of entries)
      if (timeOf(entry.entryId) >= from && filter.matches(entry)) await print(entry.json.text);
    [cursor, epoch] = [last, page.epoch];
    if (full) continue;
    if (!follow) break;
    await sleep(lookMs);
  }
  if (failure !== undefined) throw failure;
}
