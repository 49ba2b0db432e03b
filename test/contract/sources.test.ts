import { expect } from 'chai';
import type Joi from 'joi';
import { ComparedAnswer, isComparable, membersOf, type Source, textOf } from '../../src/doors/batch/sources.ts';
import { answerer } from '../../src/engine/call/operation.ts';
import { number } from '../../src/engine/declare/field.ts';
import { record } from '../../src/engine/declare/record.ts';
import { readHead, replyReader } from '../../src/engine/declare/reply.ts';
import type { Reply, Value } from '../../src/engine/declare/value.ts';
import { libraryOf } from '../../src/engine/library/library.ts';
import { isAtomic } from '../../src/engine/route/batch-route.ts';
import type { Route } from '../../src/engine/route/route.ts';
import { allRoutes, luaNames } from '../../src/primitives/primitives.ts';
import { MadeUp } from '../support/made-up.ts';
import { inputs } from '../support/sample.ts';

const routes = allRoutes.filter(isAtomic);
const { scripts } = libraryOf(luaNames);
const repliedBy = (route: Route) => scripts.find(({ name }) => name === route.script)?.reply ?? [];

/** Only Node can read the limits, which are one text of the reply, and make a link. */
const isOfNode = ({ call }: Route, member: string): boolean => call.startsWith('limits.') || member === 'answerUrl';

const textAt = (list: Reply, path: readonly number[]): string => {
  const value = path.reduce<Value | undefined>((one, index) => (Array.isArray(one) ? one[index - 1] : null), list);
  return Array.isArray(value) ? 'something' : textOf(value);
};

/** The text at a source, as lua/lib/answers finds it. list: a reply with its head. */
function textIn(source: Source, list: Reply): string {
  const number = (one: Source): bigint => BigInt(textIn(one, list) || 0);
  if ('known' in source) return textIn(textAt(list, source.known) === '' ? source.made : source.whole, list);
  if ('sum' in source) {
    const sum = source.sum.reduce((sum, one) => sum + number(one), 0n);
    const rest = (source.less ?? []).reduce((sum, one) => sum - number(one), sum);
    return String(rest < 0n ? 0n : rest);
  }
  if ('wordOf' in source) return textIn(source.wordOf, list).split(' ')[0] ?? '';
  if ('cases' in source)
    return source.cases.find(([one]) => !['', '0'].includes(textIn(one, list)))?.[1] ?? source.otherwise;
  return ('is' in source ? source.is : textAt(list, source.at)) || (source.absent ?? '');
}

/** The members that `expect` takes, by the paths in its names. */
function comparable(schemas: ReadonlyMap<string, Joi.Schema>): string[] {
  return [...schemas].flatMap(([name, schema]) => {
    if (isComparable(schema)) return [name];
    if (!['balances', 'counts'].includes(name)) return [];
    return [...membersOf(schema)].flatMap(([inner, one]) => (isComparable(one) ? [`${name}.${inner}`] : []));
  });
}

describe('The sources of what an atomic batch compares', () => {
  it('have a reply in the order of its script', () => {
    for (const route of routes)
      expect(Object.keys(route.reply), route.call).to.deep.equal(repliedBy(route).map(({ name }) => name));
  });

  it('are declared for every member that can be compared, and hold what the answer shows', () => {
    const problems = new Set<string>();
    let compared = 0;
    for (const route of routes) {
      const read = replyReader(route.script, repliedBy(route), route.reply);
      const answer = answerer(route);
      for (const input of inputs(route)) {
        const compares = new ComparedAnswer(route, input);
        const members = comparable(compares.schemas).filter((member) => !isOfNode(route, member));
        const sources = members.map((member) => [member, compares.source(member)] as const);
        for (let seed = 0; seed < 8 && members.length > 0; seed++) {
          const values = new MadeUp(seed).reply(route);
          const { body } = answer({ head: readHead(''), reply: read(values) }, input, () => undefined);
          for (const [member, source] of sources) {
            const shown = textOf(member.split('.').reduce<unknown>((one, name) => Object(one)[name], body));
            const found = source && textIn(source, ['', ...values]);
            compared++;
            if (found !== shown) problems.add(`${route.call} ${member}: ${found}, not ${shown}`);
          }
        }
      }
    }
    expect([...problems].slice(0, 20)).to.deep.equal([]);
    expect(compared).to.be.above(5_000);
  });

  it('cannot be computed from a value that scripts do not send', () => {
    const left = number().of({ sum: ['units'], less: ['used'] });
    expect(() => record('Lot', { units: number(), left })).to.throw('Lot: scripts do not send used');
    expect(() => record('Lot', { units: number(), used: number().internal(), left })).to.throw('send used');
    expect(record('Lot', { units: number(), used: number(), left }).read([5, 7])).to.deep.equal({
      ...{ units: 5, used: 7, left: 0 },
    });
  });
});
