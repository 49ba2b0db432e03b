import { expect } from 'chai';
import fc from 'fast-check';
import { Cron } from '../../../src/primitives/schedule/cron.ts';
import { dueMoments } from '../../../src/primitives/schedule/moments.ts';
import { Zone } from '../../../src/primitives/schedule/zone.ts';
import { day, hour, iso, minute } from './timetable.ts';

const zone = (name: string): Zone => Zone.of(name) as Zone;
const cron = (text: string): Cron => Cron.of(text);

/** The next moments of an expression after a given one. */
function moments(text: string, name: string, after: string, many: number): string[] {
  const found: string[] = [];
  for (let at = Date.parse(after); found.length < many; ) {
    at = cron(text).next(zone(name), at);
    found.push(iso(at));
  }
  return found;
}

describe('The moments of a cron expression', () => {
  const berlin = 'Europe/Berlin';

  it('fire once, right after the gap, if a clock change skips their wall time', () => {
    expect(moments('30 2 * * *', berlin, '2030-03-29T12:00:00Z', 3)).to.deep.equal([
      '2030-03-30T01:30:00.000Z',
      '2030-03-31T01:00:00.000Z',
      '2030-04-01T00:30:00.000Z',
    ]);
    expect(moments('*/20 * * * *', berlin, '2030-03-31T00:30:00Z', 4), 'all of the gap are one').to.deep.equal([
      '2030-03-31T00:40:00.000Z',
      '2030-03-31T01:00:00.000Z',
      '2030-03-31T01:20:00.000Z',
      '2030-03-31T01:40:00.000Z',
    ]);
    expect(moments('10,50 2 * * *', berlin, '2030-03-30T12:00:00Z', 2), 'two of them, too').to.deep.equal([
      '2030-03-31T01:00:00.000Z',
      '2030-04-01T00:10:00.000Z',
    ]);
  });

  it('fire once in an hour that occurs twice, the first time, if one hour and its minutes are fixed', () => {
    expect(moments('30 2 * * *', berlin, '2030-10-26T12:00:00Z', 2)).to.deep.equal([
      '2030-10-27T00:30:00.000Z',
      '2030-10-28T01:30:00.000Z',
    ]);
    expect(moments('0,30 2 * * *', berlin, '2030-10-26T12:00:00Z', 3)).to.deep.equal([
      '2030-10-27T00:00:00.000Z',
      '2030-10-27T00:30:00.000Z',
      '2030-10-28T01:00:00.000Z',
    ]);
    expect(moments('*/20 0 2 * * *', berlin, '2030-10-26T12:00:00Z', 4), 'seconds never decide').to.deep.equal([
      '2030-10-27T00:00:00.000Z',
      '2030-10-27T00:00:20.000Z',
      '2030-10-27T00:00:40.000Z',
      '2030-10-28T01:00:00.000Z',
    ]);
    expect(moments('0 3 * * *', berlin, '2030-10-27T00:00:00Z', 1)).to.deep.equal(['2030-10-27T02:00:00.000Z']);
  });

  it('fire both times if the minute or the hour has *, a step, a range or several hours', () => {
    const half = ['00:00', '00:30', '01:00', '01:30'].map((time) => `2030-10-27T${time}:00.000Z`);
    for (const text of ['*/30 * * * *', '0/30 2 * * *', '0,30 2-2 * * *', '0,30 2,2,4 * * *', '0,30 */2 * * *'])
      expect(moments(text, berlin, '2030-10-26T23:59:59Z', 4), text).to.deep.equal(half);
    expect(moments('0 * * * *', berlin, '2030-10-26T23:00:00Z', 4)).to.deep.equal(
      ['00', '01', '02', '03'].map((hour) => `2030-10-27T${hour}:00:00.000Z`),
    );
  });

  it('follow clock changes of half an hour, at midnight, and of a whole day', () => {
    expect(moments('15 2 * * *', 'Australia/Lord_Howe', '2030-10-04T20:00:00Z', 2)).to.deep.equal([
      '2030-10-05T15:30:00.000Z',
      '2030-10-06T15:15:00.000Z',
    ]);
    expect(moments('30 0 * * *', 'Africa/Cairo', '2030-04-24T20:00:00Z', 3)).to.deep.equal([
      '2030-04-24T22:30:00.000Z',
      '2030-04-25T22:00:00.000Z',
      '2030-04-26T21:30:00.000Z',
    ]);
    expect(moments('0 12 * * *', 'Pacific/Apia', '2011-12-29T00:00:00Z', 3), 'there was no 30th').to.deep.equal([
      '2011-12-29T22:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
      '2011-12-30T22:00:00.000Z',
    ]);
  });

  it('may be years apart', () => {
    expect(moments('0 0 29 2 *', 'UTC', '2096-03-01T00:00:00Z', 1)).to.deep.equal(['2104-02-29T00:00:00.000Z']);
  });

  it('are counted as if listed one by one, across clock changes', () => {
    const names = ['UTC', berlin, 'America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca', 'Asia/Kathmandu'];
    const texts = [
      '*/20 * * * *',
      '30 2 * * *',
      '0,30 2 * * *',
      '10-50/20 1,2 * * *',
      '0 */3 * * *',
      '15,45 1-3 * * 0',
      '0 0 L * *',
      '*/7 */5 */3 * 1',
    ];
    const from = Date.parse('2024-01-01T00:00:00Z');
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.constantFrom(...names),
        fc.integer({ min: 0, max: 10 * 365 * day }),
        fc.integer({ min: 0, max: 4 * day }),
        (text, name, offset, span) => {
          const first = cron(text).next(zone(name), from + offset);
          const through = first + span;
          let last = first;
          let count = 1;
          for (let at = first; ; count++) {
            at = cron(text).next(zone(name), at);
            if (at > through) break;
            last = at;
          }
          expect(cron(text).count(zone(name), first, through)).to.equal(count);
          expect(cron(text).last(zone(name), through)).to.equal(last);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('are those that the clock shows, minute by minute, and the end of a gap that skips one', () => {
    const minutesOf: Record<string, (hour: number, minute: number) => boolean> = {
      '*/15 2 * * *': (hour, minute) => hour === 2 && minute % 15 === 0,
      '0 * * * *': (_, minute) => minute === 0,
      '20,40 1,2 * * *': (hour, minute) => [1, 2].includes(hour) && [20, 40].includes(minute),
      '7 0-3 * * *': (hour, minute) => hour <= 3 && minute === 7,
    };
    const changes = [
      ...[
        [berlin, '2030-03-31'],
        [berlin, '2030-10-27'],
        ['America/New_York', '2030-11-03'],
      ],
      ...[
        ['Australia/Lord_Howe', '2030-04-07'],
        ['Australia/Lord_Howe', '2030-10-06'],
        ['Africa/Cairo', '2030-10-31'],
      ],
      ...[
        ['America/Havana', '2030-11-03'],
        ['Asia/Kathmandu', '2030-06-01'],
      ],
    ];
    for (const [name = '', date] of changes) {
      const clock = zone(name);
      const from = Date.parse(`${date}T00:00:00Z`) - 12 * hour;
      const walls = Array.from({ length: 36 * 60 }, (_, n) => clock.wallAt(from + n * minute));
      for (const [text, isOn] of Object.entries(minutesOf)) {
        const isShown = (wall: number): boolean => isOn(new Date(wall).getUTCHours(), new Date(wall).getUTCMinutes());
        const expected = walls.flatMap((wall, n) => {
          // With the wall times that a gap before it skips.
          let isDue = isShown(wall);
          for (let skipped = (walls[n - 1] ?? wall) + minute; skipped < wall; skipped += minute)
            isDue ||= isShown(skipped);
          return n > 0 && isDue ? [iso(from + n * minute)] : [];
        });
        expect(moments(text, name, iso(from), expected.length), `${text} in ${name}`).to.deep.equal(expected);
        const [first, last] = [expected[0] ?? '', expected.at(-1) ?? ''].map(Date.parse) as [number, number];
        expect(cron(text).last(clock, last + minute - 1)).to.equal(last);
        expect(cron(text).count(clock, first, last)).to.equal(expected.length);
      }
    }
  });

  it('are counted over years without listing each', () => {
    const [from, through] = [Date.parse('2025-01-01T00:00:00Z'), Date.parse('2026-01-01T00:00:00Z')];
    // The skipped hour adds no moment besides the first one after it.
    expect(cron('* * * * * *').count(zone(berlin), from, through - 1)).to.equal(365 * 86_400);
    expect(
      cron('* 0 2 * * *').count(zone(berlin), from, through - 1),
      'once a day, also where 2:00 comes twice',
    ).to.equal(364 * 60 + 1);
  });

  it('come once, however often a list or range names them', () => {
    const same: [string, string][] = [
      ['0 0 * * 0,7', '0 0 * * 0'],
      ['*/15,0 * * * *', '*/15 * * * *'],
      ['0 9-17,12 * * *', '0 9-17 * * *'],
      ['5,5,3-5 4 * * *', '3,4,5 4 * * *'],
      ['0 0 1-31 * *', '0 0 * * *'],
      ['0 0 * * FRI-SUN', '0 0 * * 5,6,0'],
      ['0 0 * JAN,1,Feb *', '0 0 * 1-2 *'],
      ['0 0 * * 1-7', '0 0 * * 0-6'],
    ];
    for (const [one, other] of same) {
      const after = '2030-01-01T00:00:00Z';
      expect(moments(one, 'UTC', after, 50), one).to.deep.equal(moments(other, 'UTC', after, 50));
    }
  });

  it('still come from an expression that an earlier version accepted', () => {
    const id = '01a1fc43-3c71-7002-984a-000000000001';
    const timing = { id, cron: '0 0 99L * *', everySeconds: null, timezone: 'UTC' };
    const nextAt = Date.parse('2030-01-31T00:00:00Z');
    expect(dueMoments(timing, nextAt, nextAt).following).to.equal(Date.parse('2030-02-28T00:00:00Z'));
    expect(Cron.mistakeIn('0 0 99L * *')).to.contain('L without a number');
  });

  it('moments that have passed fire only once, for the last one', () => {
    const id = '01a1fc43-3c71-7002-984a-000000000001';
    const timing = { id, cron: '0 * * * *', everySeconds: null, timezone: 'UTC' };
    const nextAt = Date.parse('2030-01-01T01:00:00Z');
    expect(dueMoments(timing, nextAt, nextAt + 10 * minute)).to.deep.equal({
      moment: nextAt,
      missed: 0,
      following: nextAt + hour,
    });
    expect(dueMoments(timing, nextAt, nextAt + 5 * hour)).to.deep.equal({
      moment: nextAt + 5 * hour,
      missed: 5,
      following: nextAt + 6 * hour,
    });
  });
});

describe('A cron expression that is refused', () => {
  it('is told which field is wrong, and what would be right', () => {
    const form = (part: string, range: string, name: string): string =>
      `must have * or ${range}, with lists (1,2), ranges (1-5) and steps (*/5), as its ${name}, not "${part}"`;
    const refused: Record<string, string> = {
      '': 'must have five fields, or six with seconds first, like 0 9 * * 1-5: it has 0',
      '0 9 * *': 'must have five fields, or six with seconds first, like 0 9 * * 1-5: it has 4',
      '@daily': 'must have five fields, or six with seconds first, like 0 9 * * 1-5: it has 1',
      '60 * * * *': form('60', '0 to 59', 'minute'),
      '0,x 1 * * *': form('x', '0 to 59', 'minute'),
      'H * * * *': form('H', '0 to 59', 'minute'),
      '61 0 9 * * *': form('61', '0 to 59', 'second'),
      '0 24 * * *': form('24', '0 to 23', 'hour'),
      '0 0 0 * *': form('0', '1 to 31', 'day of the month'),
      '0 0 * foo *': form('foo', '1 to 12 (JAN to DEC)', 'month'),
      '0 0 * * 8': form('8', '0 to 7 (SUN to SAT)', 'day of the week'),
      '0 22-2 * * *': 'must have ranges that end after their start as its hour, not "22-2"',
      '*/0 * * * *': 'must have steps of at least 1 as its minute, not "*/0"',
      '0 0 99L * *': 'must have L without a number as its day of the month, not "99L"',
      '0 0 1,5L * *': 'must have L without a number as its day of the month, not "5L"',
      '0 0 * * 1,3#2': 'must have a day with # alone as its day of the week, not "1,3#2"',
      '0 0 31 2 *': 'must be an expression that comes at some time: none of its months has one of its days',
      '0 0 31 2,4 *': 'must be an expression that comes at some time: none of its months has one of its days',
      [`0 0 * * ${'1,'.repeat(200)}1`]: 'must have at most 256 characters',
    };
    for (const [text, why] of Object.entries(refused)) expect(Cron.mistakeIn(text), text).to.equal(why);
  });
});
