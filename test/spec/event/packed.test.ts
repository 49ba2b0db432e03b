import { expect } from 'chai';
import pino from 'pino';
import { Packing } from '../../../src/jobs/workers/packing.ts';
import { writeCursor } from '../../../src/primitives/event/cursor.ts';
import { Journal } from '../../../src/primitives/event/journal.ts';
import { pageReply } from '../../../src/primitives/event/page.ts';
import { placeOf } from '../../../src/primitives/event/segment.ts';
import { Segments } from '../../../src/primitives/event/segments.ts';
import { expectAgreement } from '../../support/agree.ts';
import { journalOf } from '../../support/journal.ts';
import { rejectionOf } from '../../support/own-store.ts';
import { Traffic } from '../../support/traffic.ts';
import { codeOf, World } from '../../support/world.ts';

/** Packs everything there is, in segments of so many events. */
async function packAll({ service, org, spaceId }: World, size = 1000, sealAfterMs = 0): Promise<void> {
  await service.packing.packSpace(org, spaceId, undefined, { sealAfterMs, isAll: true, size });
}

const silent = pino({ level: 'silent' });
const hour = 3_600_000;

describe('The journal when it is packed', () => {
  let world: World;
  let traffic: Traffic;
  let now: number;
  beforeEach(async () => {
    world = await World.create();
    now = Date.now();
    await world.at(now);
    traffic = await Traffic.on(world);
  });
  const store = () => world.service.store;
  const index = () => `${world.prefix}:eventSegments`;
  const live = () => store().xlen(`${world.prefix}:events`);
  const segments = async () => (await store().xrange(index(), '-', '+')).map(([last]) => last);
  const segmentKey = (last = '') => `${world.prefix}:eventSegment:${last}`;
  const pass = async (ms: number): Promise<void> => {
    now += ms;
    await world.at(now);
  };

  async function work(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const deadline = new Date(now + hour).toISOString();
      const works = [
        traffic.messages(deadline),
        traffic.group(),
        traffic.barrier(),
        traffic.units(),
        traffic.stopped(),
      ];
      await Promise.all([...works, traffic.reservation(deadline)]);
      await pass(700_000);
    }
  }

  /** Every read of the journal, and every figure that comes of it. */
  async function readAll(): Promise<Record<string, string>> {
    const entries = await journalOf(world);
    const { epoch = '' } = await store().hgetall(`muster:{${world.org}}`);
    const at = (n: number) => writeCursor(world.spaceId, epoch, entries.at(n)?.[0] ?? '');
    const some = entries.flatMap((_, n) => (n % 29 === 0 ? [at(n)] : []));
    const [scopeId = ''] = traffic.scopes;
    const filters = ['', '&types=message.*', '&types=group.decided,barrier.released', '&aggregate=budget'];
    filters.push(`&scopeId=${scopeId}`, '&types=mailbox.deleted', `&aggregate=mailbox:${traffic.work}`);
    const paths = [
      ...['/events', '/events?limit=1', '/events?limit=500', '/events?cursor=latest', '/census', '/backlog', '/usage'],
      ...some.flatMap((cursor, n) => [`/events?cursor=${cursor}&limit=${(n % 40) + 1}`, `/events?cursor=${cursor}`]),
      ...filters.map((filter) => `/watch?limit=30${filter}`),
      ...filters.map((filter, n) => `/watch?limit=5&cursor=${some[n] ?? ''}${filter}`),
      `/events?cursor=${writeCursor(world.spaceId, 'other', entries[3]?.[0] ?? '')}`,
      `/events?cursor=${writeCursor(world.spaceId, epoch, `${entries[3]?.[0].split('-')[0]}-999`)}`,
      `/events?cursor=${writeCursor(world.spaceId, epoch, '1-0')}`,
    ];
    const answers: Record<string, string> = { journal: JSON.stringify(entries) };
    for (const path of paths) {
      const { status, text } = await world.get(path);
      answers[path] = `${status} ${text.replace(/"requestId":"[^"]+"\}\}$/, '')}`;
    }
    return answers;
  }

  it('begins a moment within packed events with their segment, and goes on to the live ones', async () => {
    await work(2);
    await packAll(world, 5);
    await world.mustPost('/mailboxes', { name: 'live' });
    const all: { eventId: string; occurredAt: string }[] = (await world.get('/events?limit=500')).body.events;
    const order = all.map(({ eventId }) => eventId);
    const moments = all.map(({ occurredAt }) => occurredAt);
    for (const n of [0, 7, Math.floor(all.length / 2), all.length - 1]) {
      const moment = moments[n] ?? '';
      const found: string[] = [];
      let path = `/events?since=${moment}&limit=3`;
      for (let size = 1; size > 0; ) {
        const { status, body, text } = await world.get(path);
        expect(status, text).to.equal(200);
        size = body.events.length;
        found.push(...body.events.map(({ eventId }: { eventId: string }) => eventId));
        path = `/events?cursor=${body.nextCursor}&limit=50`;
      }
      const first = moments.indexOf(moment);
      expect(found).to.deep.equal(order.slice(-found.length));
      expect(found.length).to.be.within(all.length - first, all.length - first + 5);
    }
    const { body } = await world.get(`/events?since=${new Date(now + 1).toISOString()}`);
    expect(body.events).to.deep.equal([]);
  });

  it('reads as before, whatever part of it is packed, in segments of any size', async () => {
    await work(1);
    for (const size of [3, 1000]) {
      await work(1);
      const before = await readAll();
      await packAll(world, size, 1_000_000);
      expect(await readAll(), `partly in segments of ${size}`).to.deep.equal(before);
      expect(await live()).to.be.greaterThan(0);
      await packAll(world, size);
      expect(await live()).to.equal(0);
      expect(await readAll(), `in segments of ${size}`).to.deep.equal(before);
      await expectAgreement(world);
    }
    expect(codeOf(await world.get(`/events?cursor=${writeCursor(world.spaceId, 'x', '1-0')}`))).to.match(/^410/);
  });

  async function cursorAt(entryId: string): Promise<string> {
    const { epoch = '' } = await store().hgetall(`muster:{${world.org}}`);
    return writeCursor(world.spaceId, epoch, entryId);
  }

  /** The eventIds that a reader gets who goes on from page to page. */
  async function readOn(limit: number): Promise<string[]> {
    const seen: string[] = [];
    for (let cursor = '', more = 1; more > 0; ) {
      const { body } = await world.get(`/events?limit=${limit}${cursor}`);
      seen.push(...body.events.map(({ eventId }: { eventId: string }) => eventId));
      cursor = `&cursor=${body.nextCursor}`;
      more = body.events.length;
    }
    return seen;
  }

  it('is read in order with one look at each segment, and a call a page; the cache is bounded', async () => {
    await work(3);
    const before = await readOn(500);
    await packAll(world, 25);
    const count = (await segments()).length;
    expect(count).to.be.greaterThan(5);
    const { segments: cache } = world.service.journal;
    const { reads } = cache;
    expect(await readOn(10)).to.deep.equal(before);
    expect(cache.reads - reads).to.equal(count);
    expect(await readOn(33)).to.deep.equal(before);
    expect(cache.reads - reads).to.equal(count);
    const small = new Segments(store(), 10_000);
    const places = (await store().xrange(index(), '-', '+')).map(([last, [, first, , n, , digest]]) =>
      placeOf([last, first ?? '', Number(n), digest ?? '', segmentKey(last)]),
    );
    for (const place of places) expect(await small.open('j', place)).to.have.property('place', place);
    expect(small.bytes).to.be.within(1, 10_000);
    expect(small.find('j', places.at(-1)?.first ?? '')?.place).to.equal(places.at(-1));
    expect(small.find('j', places[0]?.first ?? '')).to.equal(undefined);
  });

  it('is read on into the next segment by a page that lacks one event, not into the live ones', async () => {
    await work(1);
    await packAll(world, 5);
    await traffic.note(traffic.scope());
    expect(await live()).to.be.greaterThan(0);
    expect(await readOn(6)).to.deep.equal(await readOn(500));
  });

  it('is watched from the beginning as server-sent events, on into what happens now', async () => {
    await work(1);
    const before = await readOn(500);
    await packAll(world, 20);
    const gone = new AbortController();
    const headers = { Authorization: `Bearer ${world.apiKey}`, Accept: 'text/event-stream' };
    const url = `${world.url}/v1/spaces/${world.spaceId}/watch`;
    const reader = (await fetch(url, { headers, signal: gone.signal })).body?.getReader();
    let text = '';
    const seen = () => [...text.matchAll(/"eventId":"([^"]+)"/g)].map(([, id = '']) => id);
    const until = async (count: number) => {
      while (seen().length < count) text += Buffer.from((await reader?.read())?.value ?? '').toString();
    };
    await until(before.length);
    await traffic.note(traffic.scope());
    await until(before.length + 2);
    gone.abort();
    expect(seen()).to.deep.equal(await readOn(500));
  });

  it('is packed once by two workers at a time, and not at all over an entry that has changed', async () => {
    await work(2);
    const before = await journalOf(world);
    const { org, spaceId, service } = world;
    const other = new Packing({ ...service, log: silent }, { sealAfterSeconds: 1 });
    const how = { sealAfterMs: 0, isAll: true, size: 10 };
    await Promise.all([service.packing, other].map((one) => one.packSpace(org, spaceId, undefined, how)));
    expect(await live()).to.equal(0);
    expect(await journalOf(world)).to.deep.equal(before);
    const found = await Promise.all((await segments()).map((last) => store().exists(segmentKey(last))));
    expect(found.every((one) => one === 1)).to.equal(true);
    expect(await store().keys(`${world.prefix}:eventSegment:*`)).to.have.length(found.length);

    await traffic.note(traffic.scope());
    const [head, tail] = (await store().xrange(`${world.prefix}:events`, '-', '+')) as [string, string[]][];
    const text = ([entryId, [type, rest]]: [string, string[]] = ['', []]) => `${entryId} ${type} ${rest}`;
    const args = { spaceId, requestId: '', first: head?.[0] ?? '', last: tail?.[0] ?? '', count: 2, digest: 'd' };
    const try_ = (more: object) =>
      service.scripts.execute('event/pack', org, {
        ...args,
        merged: '',
        mergedDigest: '',
        segment: 'x',
        ...more,
      } as never);
    const rows = await store().dump(index());
    const entries = await live();
    for (const more of [
      { head: `${text(head)}x`, tail: text(tail) },
      { head: text(tail), tail: text(tail) },
      { head: text(head), tail: `${text(tail)}x` },
      { head: text(head), tail: text(tail), merged: (await segments()).at(-1), mergedDigest: 'other' },
      { head: text(head), tail: text(tail), merged: (await segments())[0], mergedDigest: '' },
    ])
      expect(await try_(more)).to.deep.equal([0]);
    expect(await store().dump(index())).to.equal(rows);
    expect(await live()).to.equal(entries);
  });

  it('is packed when a segment is full, when its events have waited for an hour, and after a day', async () => {
    const { org, spaceId, service } = world;
    const packing = new Packing({ ...service, log: silent }, { sealAfterSeconds: 3600 });
    const pack = (size = 1000) => packing.packSpace(org, spaceId, undefined, { sealAfterMs: hour, size });
    await work(1);
    const begun = now - 700_000;
    expect(await pack()).to.equal(hour - 700_000);
    await pass(hour - 700_000);
    const entries = (await journalOf(world)).length;
    expect(await pack(), 'they may still be joined by others').to.equal(hour);
    expect(await live()).to.equal(entries);
    await pack(20);
    expect(await live(), 'full ones do not wait').to.equal(entries % 20);
    await pass(hour);
    await pack();
    const [first = '', ...others] = await segments();
    expect(await live()).to.equal(0);

    const before = (await segments()).length;
    for (let i = 0; i < 3; i++) {
      await traffic.note(traffic.scope());
      await pass(2 * hour);
      await pack();
      expect(await live()).to.equal(0);
    }
    expect(await segments(), 'the last one is filled up').to.have.length(before);
    const kept = await store().keys(segmentKey('*'));
    expect(kept, 'what it was before is removed').to.have.members((await segments()).map(segmentKey));
    await pass(24 * hour);
    await traffic.note(traffic.scope());
    await pass(2 * hour);
    await pack();
    expect(await segments(), 'no segment is longer than a day').to.have.length(before + 1);
    expect([first, ...others].length).to.equal(before);
    expect(Number(first.split('-')[0])).to.be.at.least(begun);
  });

  it('has a damaged segment told by name, to readers of its events only', async () => {
    await work(2);
    const before = await readOn(500);
    const lines: string[] = [];
    const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
    const { service, org, spaceId } = world;
    /** With nothing in memory: neither this packer nor the service has opened a segment yet. */
    const unread = () => new Journal(service.scripts, new Segments(store()), log);
    const pack = (size: number) =>
      new Packing({ ...service, journal: unread(), log }, { sealAfterSeconds: 1 }).packSpace(org, spaceId, undefined, {
        ...{ sealAfterMs: 0, isAll: true, size },
      });
    await pack(30);
    const [first = '', second = '', third = ''] = await segments();
    await store().set(segmentKey(second), 'garbage');
    await store().del(segmentKey(third));
    const page = await world.get('/events?limit=100');
    expect(page.body.events, 'up to the damaged one').to.have.length(30);
    const damaged = await world.get(`/events?cursor=${page.body.nextCursor}`);
    expect(codeOf(damaged)).to.equal('500 EVENTS_DAMAGED');
    const [, cursor] = /events \S+ to \S+: .*cursor=(\S+) continues/.exec(damaged.body.error.message) ?? [];
    const missing = await world.get(`/watch?cursor=${cursor}&types=message.*`);
    expect(codeOf(missing)).to.equal('500 EVENTS_DAMAGED');
    const [, next] = /cursor=(\S+) continues/.exec(missing.body.error.message) ?? [];
    const rest = await world.get(`/events?limit=500&cursor=${next}`);
    const ids = [...page.body.events, ...rest.body.events].map(({ eventId }) => eventId);
    expect(ids).to.deep.equal([...before.slice(0, 30), ...before.slice(90)]);

    const { epoch = '' } = await store().hgetall(`muster:{${org}}`);
    const read = { script: 'event/read', reply: pageReply };
    const pageAfter = (cursor: string) =>
      unread().page(world, { cursor, epoch, limit: 100 }, (args) =>
        service.scripts.ask(read, org, { ...args, spaceId, requestId: '' }),
      );
    for (const [after, last] of [
      [first, second],
      [second, third],
    ] as const) {
      expect(await rejectionOf(pageAfter(after))).to.equal('EVENTS_DAMAGED');
      expect(lines.filter((line) => line.includes(segmentKey(last)))[0]).to.match(/"error":"segment muster:.* of the/);
    }
    expect(lines.some((line) => line.includes(segmentKey(first)))).to.equal(false);

    const newest = (await segments()).at(-1) ?? '';
    await store().set(segmentKey(newest), 'garbage');
    await traffic.note(traffic.scope());
    await pack(1000);
    expect(await live()).to.equal(0);
    expect((await segments()).slice(-2)[0], 'it is not filled up').to.equal(newest);
    expect((await world.get(`/events?cursor=${await cursorAt(newest)}`)).body.events).to.have.length.greaterThan(1);
  });
});
