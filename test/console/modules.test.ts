import { expect } from 'chai';
import * as fc from 'fast-check';
import { duration, money, percent, plural } from '../../src/console/browser/format.ts';
import { History } from '../../src/console/browser/history.ts';
import { members, pretty } from '../../src/console/browser/json-text.ts';
import { address, placeOf } from '../../src/console/browser/place.ts';
import type { Happening } from '../../src/console/browser/records.ts';
import { Scopes } from '../../src/console/browser/scopes.ts';
import { SseReader } from '../../src/console/browser/sse.ts';

const id = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';
const other = '01a1fc43-3c71-7002-984a-e30e334b7ba9';

/** A UUIDv7 of a moment. */
const idAt = (ms: number): string => {
  const digits = ms.toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-000000000000`;
};

describe('The console', () => {
  it('formats money exactly, to 18 digits', () => {
    expect(money('0', 2)).to.equal('0.00');
    expect(money('7', 2)).to.equal('0.07');
    expect(money('123456', 2)).to.equal('1,234.56');
    expect(money('123456', 0)).to.equal('123,456');
    expect(money('999999999999999999', 9)).to.equal('999,999,999.999999999');
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 18n - 1n), fc.nat(9), (minor, scale) => {
        expect(BigInt(money(String(minor), scale).replaceAll(/[,.]/g, ''))).to.equal(minor);
      }),
    );
  });

  it('computes percentages, also of zero', () => {
    expect(percent('250000000000000000', '999999999999999999')).to.equal(25);
    expect(percent(1, 3)).to.equal(33.33);
    expect(percent('0', '0')).to.equal(0);
  });

  it('formats ages in their two largest units', () => {
    expect([-1, 0, 59.9, 60, 3_661, 90_061].map(duration)).to.deep.equal([
      '0 s',
      '0 s',
      '59 s',
      '1 m',
      '1 h 1 m',
      '1 d 1 h',
    ]);
    expect([plural(1, 'unit'), plural(2_000, 'unit')]).to.deep.equal(['1 unit', '2,000 units']);
  });

  it('takes a space, a page, an object and filters from the address, and nothing else', () => {
    const read = (hash: string): unknown => {
      const { query, ...place } = placeOf(hash);
      return { ...place, query: Object.fromEntries(query) };
    };
    const nothing = { spaceId: undefined, page: '', id: undefined, query: {} };
    expect(read(address(id))).to.deep.equal({ ...nothing, spaceId: id });
    expect(read(address(id.toUpperCase(), 'runs'))).to.deep.equal({ ...nothing, spaceId: id, page: 'runs' });
    const query = { state: 'FAILED', workKey: 'a&b=c#d/é' };
    expect(read(address(id, `mailbox/${other}`, { ...query, cursor: undefined, name: '' }))).to.deep.equal({
      spaceId: id,
      page: 'mailbox',
      id: other,
      query,
    });
    for (const hash of ['', '#', '#/space/', `#/space/${id}/../x`, `#/space/${id}/run/x y`, '#javascript:alert(1)'])
      expect(read(hash)).to.deep.equal(nothing);
  });

  it('shows JSON as it is written, to the last digit', () => {
    const text = '{"a":12345678901234567890.10,"b":{"c":["}",1],"d":{}},"e":"\\"{","payload":null}';
    expect(Object.fromEntries(members(text))).to.deep.equal({
      a: '12345678901234567890.10',
      b: '{"c":["}",1],"d":{}}',
      e: '"\\"{"',
      payload: 'null',
    });
    expect(pretty('[1e400,{"a":[],"b":[ true ]}]')).to.equal(
      '[\n  1e400,\n  {\n    "a": [],\n    "b": [\n      true\n    ]\n  }\n]',
    );
    fc.assert(
      fc.property(fc.json(), (written) => {
        const value: unknown = JSON.parse(written);
        expect(JSON.parse(pretty(written))).to.deep.equal(value);
        expect(pretty(written)).to.equal(pretty(JSON.stringify(value, null, 4)));
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
        const parts = [...members(written)].map(([name, part]) => [name, JSON.parse(part)]);
        expect(Object.fromEntries(parts)).to.deep.equal(isObject ? value : {});
      }),
    );
  });

  it('counts a history from the journal: what was there before is known from what there is now', () => {
    const spanMs = 60 * 60_000;
    const now = Date.UTC(2026, 0, 1, 12);
    const types = ['message.sent', 'message.acked', 'message.failed', 'message.requeued', 'message.claimed'];
    const happening = fc.record({ minutes: fc.nat(70), type: fc.constantFrom(...types) });
    fc.assert(
      fc.property(fc.array(happening), fc.nat(50), (happenings, more) => {
        const sorted = happenings.sort((a, b) => b.minutes - a.minutes);
        const events = sorted.map(({ minutes, type }, n) => ({
          eventId: String(n).padStart(5, '0'),
          type,
          aggregateId: idAt(now - minutes * 60_000),
          occurredAt: new Date(now - minutes * 60_000).toISOString(),
        })) as unknown as Happening[];
        const net = (from: number) =>
          sorted
            .filter(({ minutes }) => minutes < from)
            .reduce((all, { type }) => all + ([1, -1, -1, 1, 0][types.indexOf(type)] ?? 0), 0);
        const begun = more + 200;
        const history = new History(spanMs);
        history.add(events.slice(0, 20));
        // Some come twice: once in a page, once in the watch.
        history.add(events.slice(10));
        history.sample(now, begun + net(100), 7.5);
        const { backlog, completed, failed, oldestSeconds } = history.figures(now);
        expect(backlog).to.deep.equal(Array.from({ length: 60 }, (_, n) => begun + net(100) - net(59 - n)));
        const shown = sorted.filter(({ minutes }) => minutes < 60);
        const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
        expect(sum(completed)).to.equal(shown.filter(({ type }) => type === 'message.acked').length);
        expect(sum(failed)).to.equal(shown.filter(({ type }) => type === 'message.failed').length);
        expect(oldestSeconds.at(-1)).to.equal(7.5);
      }),
    );
  });

  it('knows from the ids of messages how old the oldest was, also after it was requeued', () => {
    const minute = 60_000;
    const now = Date.UTC(2026, 0, 1, 12);
    const history = new History(60 * minute);
    let count = 0;
    const happen = (minutes: number, type: string, aggregateId: string) =>
      history.add([
        {
          eventId: String(++count),
          type,
          aggregateId,
          occurredAt: new Date(now - minutes * minute).toISOString(),
        } as unknown as Happening,
      ]);
    const [first, second] = [idAt(now - 50 * minute), idAt(now - 20 * minute)] as const;
    happen(50, 'message.sent', first);
    happen(40, 'message.failed', first);
    happen(20, 'message.sent', second);
    happen(15, 'message.requeued', first);
    happen(5, 'message.acked', first);
    history.sample(now, 1, 20 * 60);
    const { oldestSeconds, backlog } = history.figures(now);
    const age = (minutes: number) => [backlog[59 - minutes], (oldestSeconds[59 - minutes] ?? 0) / 60];
    // At the end of each minute.
    expect([55, 45, 30, 18, 10, 2, 0].map(age)).to.deep.equal([
      [0, 0],
      [1, 6],
      [0, 0],
      [1, 3],
      [2, 11],
      [1, 19],
      [1, 20],
    ]);
  });

  it('says that its counts are partial until it has counted for as long as it shows', () => {
    const minute = 60_000;
    const now = Date.UTC(2026, 0, 1, 12);
    const history = new History(10 * minute, now);
    const occurredAt = new Date(now + minute).toISOString();
    history.add([{ eventId: '1', type: 'message.acked', aggregateId: idAt(now), occurredAt } as unknown as Happening]);
    history.sample(now + minute, 3, 600);
    const figures = history.figures(now + minute);
    expect(figures.isPartial).to.equal(true);
    // Nothing is drawn for the time of which nothing is known.
    const before = Array.from({ length: 53 }, () => 0);
    expect(figures.backlog).to.deep.equal([...before, 4, 4, 4, 4, 4, 4, 3]);
    expect(figures.completed).to.deep.equal([...before, 0, 0, 0, 0, 0, 0, 1]);
    expect(history.figures(now + 9 * minute).isPartial).to.equal(true);
    expect(history.figures(now + 10 * minute).isPartial).to.equal(false);
  });

  it('parses server-sent events wherever they are split', () => {
    const text = 'id: a\nevent: x\ndata: {"n":1}\n\n: heartbeat\nid: b\n\nid: c\ndata: {"n":2}\n\nid: d\nda';
    const wanted = [
      { id: 'a', data: '{"n":1}' },
      { id: 'b', data: '' },
      { id: 'c', data: '{"n":2}' },
    ];
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), text.length];
        const reader = new SseReader();
        const read = at.slice(1).flatMap((end, index) => reader.push(text.slice(at[index], end)));
        expect(read).to.deep.equal(wanted);
      }),
    );
  });

  it('knows what is below the scopes that it learns of, in any order, and remembers a bounded number', () => {
    const scopes = new Scopes();
    scopes.learn('child', '2026-01-01', 'root');
    scopes.learn('other', '2026-01-02');
    scopes.learn('grandchild', '2026-01-03', 'child');
    scopes.learn('child', '2026-01-03');
    expect([...scopes.subtree('root')]).to.have.members(['root', 'child', 'grandchild']);
    expect([...scopes.subtree('child')]).to.have.members(['child', 'grandchild']);
    for (let i = 0; i < 5_000; i++) scopes.learn(`s${i}`, `2026-02-01T${String(i).padStart(5, '0')}`, 'parent');
    const known = scopes.subtree('parent');
    expect(known.size).to.be.within(1_000, 1_201);
    expect(known.has('s4999')).to.equal(true);
  });
});
