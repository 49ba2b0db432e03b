import type { Scripts } from '../../engine/redis/scripts.ts';
import type { Wake } from '../../engine/redis/wake.ts';
import { callArgs } from '../../engine/route/args.ts';
import type { Caller } from '../../engine/route/caller.ts';
import { channelOf } from '../space/keys.ts';
import { Batch } from './batch.ts';
import { Feed } from './feed.ts';
import type { Journal } from './journal.ts';
import { type JournalPage, pageReply } from './page.ts';
import { ScopePaths } from './scope-paths.ts';
import type { Watcher } from './watcher.ts';

/** Entries per read: the maximum of a page. */
export const scanEntries = 500;

const pageCall = { script: 'event/list', reply: pageReply };

/** The reader of a journal: a caller, in a space of its organization. */
export interface Reader extends Caller {
  readonly spaceId: string;
}

interface HoldOptions {
  readonly waitMs: number;
  /** Aborts when the caller disconnects. */
  readonly gone: AbortSignal;
}

declare module '../../engine/route/service.ts' {
  interface RoomServices {
    readonly feeds: Feeds;
  }
}

/** The held watches of this process. A held watch costs memory only. */
export class Feeds {
  readonly paths: ScopePaths;
  readonly #scripts: Scripts;
  readonly #wake: Wake;
  readonly #journal: Journal;
  readonly #feeds = new Map<string, Feed>();
  #version = 0;

  constructor(scripts: Scripts, wake: Wake, journal: Journal) {
    this.#scripts = scripts;
    this.#wake = wake;
    this.#journal = journal;
    this.paths = new ScopePaths(scripts);
    wake.closing.addEventListener('abort', () => this.#close());
  }

  get size(): number {
    let size = 0;
    for (const feed of this.#feeds.values()) size += feed.watchers.size;
    return size;
  }

  /** Aborts at shutdown. */
  get closing(): AbortSignal {
    return this.#wake.closing;
  }

  /** The version that a read starting now will be current with; -1 if there is no feed yet. */
  version(reader: Reader): number {
    return this.#feeds.get(nameOf(reader))?.version ?? -1;
  }

  /** Holds a watch until it finds something, its time is up, its caller disconnects or the service stops. */
  async hold(reader: Reader, watcher: Watcher, { waitMs, gone }: HoldOptions): Promise<void> {
    if (gone.aborted || this.closing.aborted || waitMs <= 0) return;
    const feed = this.#feed(reader);
    let timer: NodeJS.Timeout | undefined;
    const held = new Promise<void>((resolve, reject) => {
      watcher.end = (error) => (error === undefined ? resolve() : reject(error));
      timer = setTimeout(resolve, waitMs);
    });
    const leave = (): void => watcher.end();
    gone.addEventListener('abort', leave);
    feed.watchers.add(watcher);
    feed.ready.then(
      () => watcher.version !== feed.version && feed.refresh(),
      (error) => watcher.end(error),
    );
    try {
      await held;
    } finally {
      clearTimeout(timer);
      gone.removeEventListener('abort', leave);
      feed.watchers.delete(watcher);
      if (feed.watchers.size === 0) feed.linger(() => this.#drop(nameOf(reader), feed));
    }
  }

  #feed(reader: Reader): Feed {
    const name = nameOf(reader);
    let feed = this.#feeds.get(name);
    if (!feed) {
      const { org, spaceId } = reader;
      feed = new Feed(
        (onWrite) => this.#wake.listen(channelOf(org, spaceId), onWrite),
        (position, epoch, withPaths) => this.#read(reader, position, epoch, withPaths),
        () => ++this.#version,
      );
      this.#feeds.set(name, feed);
    }
    return feed;
  }

  async #read(reader: Reader, cursor: string, epoch: string, withPaths: boolean): Promise<Batch> {
    const { org, spaceId } = reader;
    const page = await this.#journal.page(reader, { cursor, epoch, limit: scanEntries }, (args) =>
      this.#scripts.request(pageCall, org, {
        ...callArgs,
        apiKeyDigest: reader.apiKeyDigest,
        spaceId,
        permission: 'coordination_read',
        callName: 'event.watch',
        ...args,
      }),
    );
    return this.batch(reader, page, scanEntries, withPaths);
  }

  /** The batch made from a reply of event/list. withPaths: also loads the paths of its scopes, for filters that need them. */
  async batch({ org, spaceId }: Reader, page: JournalPage, limit: number, withPaths: boolean): Promise<Batch> {
    const batch = new Batch(spaceId, page, limit);
    if (withPaths)
      await this.paths.load(
        org,
        spaceId,
        batch.entries.map((entry) => entry.scopeId),
      );
    return batch;
  }

  #drop(name: string, feed: Feed): void {
    feed.stop();
    this.#feeds.delete(name);
  }

  #close(): void {
    for (const [name, feed] of this.#feeds) {
      for (const watcher of feed.watchers) watcher.end();
      this.#drop(name, feed);
    }
  }
}

function nameOf(reader: Reader): string {
  const { org, spaceId } = reader;
  return [org, spaceId, reader.apiKeyDigest].join(' ');
}
