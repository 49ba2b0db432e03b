import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type { Store } from '../../../src/engine/redis/connection.ts';
import type { Scripts } from '../../../src/engine/redis/scripts.ts';
import { Wake } from '../../../src/engine/redis/wake.ts';
import { Batch } from '../../../src/primitives/event/batch.ts';
import { Feeds, type Reader, scanEntries } from '../../../src/primitives/event/feeds.ts';
import { Filter, type FilterQuery } from '../../../src/primitives/event/filter.ts';
import { Journal } from '../../../src/primitives/event/journal.ts';
import { Segments } from '../../../src/primitives/event/segments.ts';
import { Watcher } from '../../../src/primitives/event/watcher.ts';
import { until } from '../../support/processes.ts';

const reader: Reader = { org: 'o', spaceId: '0190a1b2-0000-7000-8000-000000000000', apiKeyDigest: 'd' };
const channel = `muster:{o}:${reader.spaceId}`;
const { signal: never } = new AbortController();
const event = (n: number, type: string, id = 'id', scopeId = '~') => [`${n}-0`, [type, `${id} ${scopeId} ~ `]];

/** Simulates the reads of a journal, which the test answers, and its subscription. */
describe('Held watches of one reader', () => {
  let readings: { from: string; by: string; answer(last: string, ...entries: unknown[]): void }[];
  let subscriber: EventEmitter;
  let subscriptions: string[];
  let wake: Wake;
  let feeds: Feeds;
  beforeEach(() => {
    readings = [];
    subscriptions = [];
    const request = (_: unknown, __: string, { epoch, cursor, spaceId, apiKeyDigest }: Record<string, string>) =>
      new Promise((resolve) => {
        const answer = (last: string, ...entries: unknown[]) => resolve({ last, epoch: 'e', entries, segments: [] });
        readings.push({ from: `${epoch} ${cursor}`, by: `${spaceId} ${apiKeyDigest}`, answer });
      });
    subscriber = Object.assign(new EventEmitter(), {
      ssubscribe: async (name: string) => subscriptions.push(name),
      sunsubscribe: async (name: string) => subscriptions.push(`-${name}`),
    });
    const connection = subscriber as unknown as Store;
    wake = new Wake(connection, connection);
    const scripts = { request } as unknown as Scripts;
    feeds = new Feeds(scripts, wake, new Journal(scripts, new Segments({} as Store), {} as never));
  });
  afterEach(() => wake.close());

  const written = () => subscriber.emit('smessage', channel, '');
  const watcherAt = (position: string, types = 'budget.*', epoch = 'e', limit = 10): Watcher => {
    const watcher = new Watcher(new Filter({ types }, () => false), limit);
    return Object.assign(watcher, { position, epoch });
  };
  const hold = (watcher: Watcher, waitMs = 5000, gone = never) => feeds.hold(reader, watcher, { waitMs, gone });
  const read = (count: number) => until(async () => readings.length === count);
  const found = (watcher: Watcher) => watcher.page.map(({ entryId }) => entryId);

  it('do not begin if the time is up, the caller has disconnected or the service is stopping', async () => {
    await hold(watcherAt('1-0'), 0);
    await hold(watcherAt('1-0'), 5000, AbortSignal.abort());
    expect(subscriptions).to.deep.equal([]);
    wake.close();
    await hold(watcherAt('1-0'));
    expect(subscriptions).to.deep.equal([]);
  });

  it('read once per position after writes, however many writes there were meanwhile', async () => {
    const watchers = [watcherAt('1-0'), watcherAt('1-0'), watcherAt('2-0'), watcherAt('1-0', 'budget.*', 'f')];
    const ends = watchers.map((watcher) => hold(watcher));
    await read(3);
    expect(readings.map(({ from }) => from)).to.deep.equal(['e 1-0', 'e 2-0', 'f 1-0']);
    for (let i = 0; i < 3; i++) written();
    for (const { answer } of readings) answer('3-0', event(3, 'message.sent'));
    await read(4);
    readings[3]?.answer('4-0', event(4, 'budget.created'));
    await Promise.all(ends);
    expect(watchers.map(found)).to.deep.equal(Array(4).fill(['4-0']));
    expect(readings).to.have.length(4);
  });

  it('read what was written during the read that ended them, and do not read again if nothing was', async () => {
    const stream = watcherAt('1-0');
    const first = hold(stream);
    await read(1);
    written();
    readings[0]?.answer('2-0', event(2, 'budget.created'));
    await first;
    await new Promise(setImmediate);
    const second = hold(stream);
    await read(2);
    expect(readings[1]?.from).to.equal('e 2-0');
    readings[1]?.answer('3-0', event(3, 'budget.created'));
    await second;
    await hold(stream, 50);
    expect(readings).to.have.length(2);
  });

  it('read again at once if a full read had nothing for them', async () => {
    const watcher = watcherAt('1-0');
    const end = hold(watcher);
    await read(1);
    const others = Array.from({ length: scanEntries }, (_, i) => event(i + 2, 'message.sent'));
    readings[0]?.answer(`${scanEntries + 1}-0`, ...others);
    await read(2);
    expect(readings[1]?.from).to.equal(`e ${scanEntries + 1}-0`);
    readings[1]?.answer('900-0', event(900, 'budget.created'));
    await end;
    expect(found(watcher)).to.deep.equal(['900-0']);
  });

  it('read the rest at once if they found more than a page, or if one read did not reach the end', async () => {
    for (const [limit, entries] of [
      [scanEntries, scanEntries],
      [10, 20],
    ] as const) {
      readings = [];
      const watcher = watcherAt('1-0', 'budget.*', 'e', limit);
      const first = hold(watcher);
      await read(1);
      readings[0]?.answer('900-0', ...Array.from({ length: entries }, (_, i) => event(i + 2, 'budget.created')));
      await first;
      await new Promise(setImmediate);
      expect(found(watcher)).to.have.length(limit);
      const second = hold(watcher);
      await read(2);
      readings[1]?.answer('901-0', event(901, 'budget.created'));
      await second;
    }
  });

  it('read periodically even if nothing is written, as their key may be revoked', async () => {
    const { setInterval: begin } = globalThis;
    let nowAndThen = (): void => undefined;
    globalThis.setInterval = ((run: () => void, ms: number) => {
      nowAndThen = run;
      return begin(run, ms);
    }) as typeof setInterval;
    const end = hold(watcherAt('1-0'));
    globalThis.setInterval = begin;
    await read(1);
    readings[0]?.answer('1-0');
    await new Promise(setImmediate);
    nowAndThen();
    await read(2);
    readings[1]?.answer('2-0', event(2, 'budget.created'));
    await end;
  });

  it('take nothing from a read that completes after they end: a stream continues where it was', async () => {
    const [left, stays] = [watcherAt('1-0'), watcherAt('1-0')];
    const end = hold(stays);
    await hold(left, 20);
    readings[0]?.answer('2-0', event(2, 'budget.created'));
    await end;
    expect([left.position, found(left)]).to.deep.equal(['1-0', []]);
  });

  it('each select their own events from a shared read', () => {
    const entries = [
      event(2, 'message.sent', 'm'),
      event(3, 'budget.created', 'b', 's'),
      event(4, 'budget.settled', 'c'),
    ];
    const batch = new Batch(reader.spaceId, { last: '4-0', epoch: 'e', entries, isCut: false }, scanEntries);
    const ids = (query: FilterQuery) => batch.select(new Filter(query, () => false)).map(({ entryId }) => entryId);
    expect(ids({ types: 'message.sent' })).to.deep.equal(['2-0']);
    expect(ids({ types: 'budget.*' })).to.deep.equal(['3-0', '4-0']);
    expect(ids({ types: 'budget.*', scopeId: 's' })).to.deep.equal(['3-0']);
    expect(ids({ types: 'budget.*', aggregate: 'message' })).to.deep.equal([]);
    expect(ids({ types: 'budget.*', aggregate: 'budget' })).to.deep.equal(['3-0', '4-0']);
  });

  it('read separately for each key and each space, as that key', async () => {
    const readers = [reader, { ...reader, apiKeyDigest: 'x' }, { ...reader, spaceId: 's' }];
    await Promise.all(readers.map((one) => feeds.hold(one, watcherAt('1-0'), { waitMs: 20, gone: never })));
    expect(readings.map(({ by }) => by)).to.deep.equal(readers.map((one) => `${one.spaceId} ${one.apiKeyDigest}`));
  });

  it('keep their subscription for two seconds, and longer if a watch comes back in that time', async () => {
    const { setTimeout: begin } = globalThis;
    let kept = 0;
    globalThis.setTimeout = ((run: () => void, ms?: number, ...rest: []) => {
      if (ms === 2000) kept++;
      return begin(run, ms === 2000 ? 100 : ms, ...rest);
    }) as typeof setTimeout;
    try {
      await Promise.all([
        hold(watcherAt('1-0'), 10),
        feeds.hold({ ...reader, spaceId: 's' }, watcherAt('1-0'), { waitMs: 10, gone: never }),
      ]);
      expect(kept).to.equal(2);
      const end = hold(watcherAt('1-0'));
      await until(async () => subscriptions.length === 3);
      expect(subscriptions).to.deep.equal([channel, 'muster:{o}:s', '-muster:{o}:s']);
      wake.close();
      await end;
    } finally {
      globalThis.setTimeout = begin;
    }
    expect(subscriptions.at(-1)).to.equal(`-${channel}`);
  });
});
