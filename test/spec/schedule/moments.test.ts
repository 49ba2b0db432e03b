import { expect } from 'chai';
import fc from 'fast-check';
import { Cron } from '../../../src/schedule/cron.ts';
import { dueMoments } from '../../../src/schedule/moments.ts';
import { Zone } from '../../../src/schedule/zone.ts';
import { day, hour, iso, minute } from './timetable.ts';

const zone = (name: string): Zone => Zone.of(name) as Zone;
const cron = (text: string): Cron => Cron.of(text) as Cron;

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

  it('fire once, the first time, if their wall time occurs twice', () => {
    expect(moments('30 2 * * *', berlin, '2030-10-26T12:00:00Z', 2)).to.deep.equal([
      '2030-10-27T00:30:00.000Z',
      '2030-10-28T01:30:00.000Z',
    ]);
    expect(moments('*/30 * * * *', berlin, '2030-10-26T23:30:00Z', 4)).to.deep.equal([
      '2030-10-27T00:00:00.000Z',
      '2030-10-27T00:30:00.000Z',
      '2030-10-27T02:00:00.000Z',
      '2030-10-27T02:30:00.000Z',
    ]);
    expect(moments('0 3 * * *', berlin, '2030-10-27T00:00:00Z', 1)).to.deep.equal(['2030-10-27T02:00:00.000Z']);
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
    const texts = ['*/20 * * * *', '30 2 * * *', '0 */3 * * *', '15,45 1-3 * * 0', '0 0 L * *', '*/7 */5 */3 * 1'];
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

  it('are counted over years without listing each', () => {
    const [from, through] = [Date.parse('2025-01-01T00:00:00Z'), Date.parse('2026-01-01T00:00:00Z')];
    // The hour that occurs twice fires once; the skipped hour adds no moment besides the first one after it.
    expect(cron('* * * * * *').count(zone(berlin), from, through - 1)).to.equal(365 * 86_400 - 3600);
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
