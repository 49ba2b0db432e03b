import { expect } from 'chai';
import type { Event } from '../fault/journal.ts';
import { outOfLine, outOfTurn, overtaken, tooEarly } from '../fault/order.ts';
import { untraced } from '../fault/traces.ts';
import { someTrace, traceOf } from '../support/trace.ts';

const nobody = { requestId: null, traceparent: null };

/** `sent a` and so on, as events. */
const events = (...lines: string[]): Event[] =>
  lines.map((line, index) => {
    const [type = '', aggregateId = ''] = line.split(' ');
    return { eventId: `${index}`, type: `message.${type}`, aggregateId, occurredAt: '', ...nobody, payload: {} };
  });

describe('checks of the order in a journal', () => {
  const keyed = new Map(['a', 'b', 'c'].map((id) => [id, 'box key']));
  const begun = ['sent a', 'sent b', 'sent c', 'claimed a'];

  it('accept one message of a key at a time, retries and requeued ones included', () => {
    const all = [...begun, 'retried a', 'claimed a', 'cancelled b', 'failed a', 'claimed c', 'requeued a', 'acked c'];
    expect(outOfTurn({ keyed }, events(...all, 'claimed a', 'acked a'))).to.deep.equal([]);
  });

  it('find two of one key at once, another one between two attempts, and a wrong turn', () => {
    for (const wrong of [['claimed b'], ['retried a', 'claimed b'], ['acked a', 'claimed c']])
      expect(outOfTurn({ keyed }, events(...begun, ...wrong)), wrong.join()).to.have.length(1);
  });

  it('find a claim of a lower priority while a higher one was READY, in the same run alone', () => {
    const ordered = new Map([
      ['low', { run: 'one', priority: 0 }],
      ['high', { run: 'one', priority: 2 }],
      ['other', { run: 'two', priority: 0 }],
    ]);
    const of = (...lines: string[]) => overtaken({ ordered }, events('sent low', 'sent high', 'sent other', ...lines));
    expect(of('claimed other', 'claimed high', 'retried high', 'claimed low')).to.deep.equal([]);
    expect(of('claimed low', 'claimed high')).to.deep.equal(['low was claimed before high']);
  });

  it('find a claim before what the message is after had come out well', () => {
    const planted = new Map([['b', { after: ['a'], onFailure: 'CANCEL' as const }]]);
    expect(tooEarly({ planted }, events('sent a', 'sent b', 'claimed a', 'acked a', 'claimed b'))).to.deep.equal([]);
    expect(tooEarly({ planted }, events('sent a', 'sent b', 'claimed a', 'rejected a', 'claimed b'))).to.have.length(1);
  });

  it('find units that are granted out of line, or beyond what the pool has', () => {
    const of = (...lines: string[]) => {
      const holds = events('created p', ...lines).map(({ type, aggregateId, ...rest }, at) => {
        const units = at === 0 ? 3 : aggregateId === 'two' ? 2 : 1;
        const named = type.replace('message', at === 0 ? 'pool' : 'hold');
        return { ...rest, type: named, aggregateId, payload: { units, poolId: 'p' } };
      });
      return outOfLine(holds);
    };
    const begun = ['held two', 'held a', 'queued b', 'queued c', 'queued d'];
    expect(of(...begun, 'released two', 'held b', 'cancelled c', 'held d', 'lapsed a')).to.deep.equal([]);
    expect(of(...begun, 'released two', 'held c')).to.deep.equal(['c was granted before b']);
    expect(of(...begun, 'released two', 'held e')).to.deep.equal(['e was granted before b']);
    expect(of(...begun, 'held b')).to.deep.equal(['4 units of p were held, which has 3']);
  });

  it('find a message that has not the trace of its send, or loses it', () => {
    const [traced, plain] = ['request-2', 'request-1'];
    const { traceparent = null } = traceOf(traced);
    const of = (requestId: string, ...traces: readonly (string | null)[]) =>
      untraced(
        events('sent a', 'claimed a').map((event, at) => ({ ...event, requestId, traceparent: traces[at] ?? null })),
      );
    expect([...of(traced, traceparent, traceparent), ...of(plain, null, null)]).to.deep.equal([]);
    expect(of(traced, traceparent, null)).to.have.length(1);
    expect(of(traced, someTrace(), traceparent)).to.have.length(1);
    expect(of(plain, null, someTrace())).to.have.length(1);
  });
});
