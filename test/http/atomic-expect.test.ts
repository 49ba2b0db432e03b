import { expect } from 'chai';
import type { Route } from '../../src/engine/route/route.ts';
import { routes, Stage } from '../support/stage.ts';
import { codeOf } from '../support/world.ts';

const times = /^\d{4}-\d\d-\d\dT/;
const random = /^[0-9a-f]{8}-[0-9a-f]{4}-|^[0-9a-f]{32}$/;
/** Opaque values, which may be of any type, an object and a list that may be null, and links. */
const opaque: ReadonlySet<string> = new Set([
  'payload',
  'progress',
  'result',
  'value',
  'requires',
  'question',
  'suspension',
  'answer',
  'options',
  'answerUrl',
]);
/** Their limits are one text of the script's reply; an OPEN barrier has no next epoch. */
const isLeftOut = ({ call }: Route): boolean => call.startsWith('limits.') || call === 'barrier.nextEpoch';

describe('What a call of an atomic batch expects of its answer', () => {
  it('is met by all that can be compared in the answer of each call, and by nothing else', async () => {
    const stage = await Stage.create(async () => ({}));
    const problems: string[] = [];
    let members = 0;
    for (const route of routes) {
      if (isLeftOut(route)) continue;
      const call = stage.callOf(route);
      const { status, body, text } = await stage.atomically([call]);
      expect(status, `${route.call} ${text}`).to.equal(200);
      const answer = body.results[0].body ?? {};
      const isComparable = ([name, value]: [string, unknown]): boolean =>
        !opaque.has(name) &&
        !(typeof value === 'object' && value !== null) &&
        !(typeof value === 'string' && (times.test(value) || (random.test(value) && !stage.isKnown(value)))) &&
        // A time that is null.
        !(value === null && /At$|Until$|^deadline$|^settleBy$/.test(name));
      const nested = ['balances', 'counts'].filter((name) => typeof answer[name] === 'object' && answer[name] !== null);
      const scalars = Object.entries(answer).filter(isComparable);
      const wanted = {
        ...Object.fromEntries(scalars),
        ...Object.fromEntries(nested.map((name) => [name, answer[name]])),
      };
      const met = await stage.atomically([{ ...call, expect: wanted }]);
      if (met.status !== 200) problems.push(`${route.call} ${JSON.stringify(wanted)}: ${met.text}`);
      const wrong = [
        ...scalars.flatMap(([name, value]) => other(value).map((one) => ({ [name]: one }))),
        ...nested.flatMap((name) =>
          Object.entries(answer[name]).flatMap(([inner, value]) =>
            other(value).map((one) => ({ [name]: { [inner]: one } })),
          ),
        ),
      ];
      await stage.reset();
      // Each is refused, so nothing changes.
      for (const expectation of wrong) {
        members++;
        const calls = [{ ...call, expect: expectation }];
        const reply = await stage.world.post('/batch', { atomic: true, calls });
        if (!['409 EXPECTATION_FAILED', '400 VALIDATION_FAILED'].includes(codeOf(reply)))
          problems.push(`${route.call} ${JSON.stringify(expectation)}: ${reply.text}`);
        else if (reply.status === 400 && !/must be|one of|fails|less|greater/.test(reply.body.error.message))
          problems.push(`${route.call} ${reply.text}`);
      }
    }
    expect(problems.join('\n')).to.equal('');
    expect(members).to.be.above(150);
  });

  /** Another value of the same type. */
  function other(value: unknown): unknown[] {
    if (typeof value === 'boolean') return [!value];
    if (typeof value === 'number') return [value + 1];
    if (typeof value === 'string' && /^\d+$/.test(value)) return [`${value}1`];
    return typeof value === 'string' && random.test(value)
      ? [value.replace(/.$/, (last) => (last === '0' ? '1' : '0'))]
      : [];
  }
});
