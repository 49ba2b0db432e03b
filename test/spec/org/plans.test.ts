import { expect } from 'chai';
import { InvalidInput } from '../../../src/primitives/org/input.ts';
import { figureNames, figuresOf } from '../../../src/primitives/org/plans.ts';
import { defaultLimits, maximumLimits, spaceLimits } from '../../support/limits.ts';

describe('Plans', () => {
  const table = {
    free: [100_000, 10, 2, 200, 1_000, 10, 600, 7, 268_435_456],
    builder: [2_000_000, 100, 10, 1_000, 10_000, 25, 1_500, 14, 'unlimited'],
    team: [15_000_000, 1_000, 'unlimited', 10_000, 100_000, 100, 3_000, 30, 'unlimited'],
    scale: [100_000_000, 5_000, 'unlimited', 50_000, 500_000, 500, 20_000, 90, 'unlimited'],
    preview: ['unlimited', 'unlimited', 3, 200, 1_000, 10, 600, 7, 'unlimited'],
  };
  const names = [
    'operations',
    'agents',
    'spaces',
    'runs',
    'tasks',
    'keys',
    'rpm',
    'retentionDays',
    'retainedBytes',
  ] as const;

  for (const [plan, figures] of Object.entries(table)) {
    it(`${plan} has the specified figures`, () => {
      expect(figuresOf(plan)).to.deep.equal(Object.fromEntries(names.map((name, index) => [name, figures[index]])));
    });
  }

  it('enterprise is unlimited and keeps data for 365 days by default', () => {
    const figures = figuresOf('enterprise', { agents: '7', operations: 'unlimited' });
    expect(figures).to.include({ agents: 7, operations: 'unlimited', spaces: 'unlimited', retentionDays: 365 });
    expect(figuresOf('enterprise').agents, 'of another organization').to.equal('unlimited');
  });

  it('every figure is a whole number from 1, or the word unlimited', () => {
    expect(figureNames).to.deep.equal([...names]);
    for (const name of names) {
      for (const text of ['0', '-1', '1.5', '1e3', '', ' 5', 'Unlimited', '1000000000001']) {
        expect(() => figuresOf('enterprise', { [name]: text }), text).to.throw(InvalidInput, `${name}: "${text}"`);
      }
      expect(figuresOf('enterprise', { [name]: '1000000000000' })[name]).to.equal(10 ** 12);
    }
  });

  it('only enterprise accepts figures of its own', () => {
    for (const plan of Object.keys(table)) {
      expect(() => figuresOf(plan, { rpm: '5' })).to.throw(InvalidInput, /rpm: only the enterprise plan/);
    }
  });

  it('an unknown plan is refused by name, with a list of the known ones', () => {
    expect(() => figuresOf('gold')).to.throw(
      InvalidInput,
      /"gold" is not one of free, builder, team, scale, enterprise/,
    );
    expect(() => figuresOf('toString')).to.throw(InvalidInput);
  });

  it('the limits of a space have the specified defaults, minima and maxima', () => {
    expect(Object.values(defaultLimits)).to.deep.equal([600, 1_000, 65_536, null, 600, 10_000, 10_000]);
    expect(Object.values(spaceLimits).map(({ min }) => min)).to.deep.equal([1, 1, 1, 1, 5, 1, 1]);
    expect(Object.values(maximumLimits)).to.deep.equal([100_000, 1_000_000, 65_536, null, 600, 1_000_000, 1_000_000]);
  });
});
