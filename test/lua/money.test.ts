import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { luaRoot } from '../../src/engine/library/source.ts';
import { api } from '../support/world.ts';

const text = readFileSync(join(luaRoot, 'lib/money.lua'), 'utf8');
const script = `${text}
local answers = {}
for i = 1, #ARGV, 2 do
  local a, b = ARGV[i], ARGV[i + 1]
  local n = #answers
  answers[n + 1], answers[n + 2] = money.add(a, b), money.exceeds(b, a) and money.subtract(b, a) or money.subtract(a, b)
end
return answers`;

const maxAmount = 10n ** 18n - 1n;

describe('Amounts of money in scripts', () => {
  it('are added and subtracted exactly, and sums of them to 24 digits', async () => {
    const { store } = await api();
    const near = (power: number) => fc.bigInt({ min: 10n ** BigInt(power) - 3n, max: 10n ** BigInt(power) + 3n });
    const amount = fc.oneof(
      fc.bigInt({ min: 0n, max: maxAmount / 2n }),
      fc.bigInt({ min: 0n, max: 10n ** 10n }),
      fc.constantFrom(0n, 1n, maxAmount / 2n),
      ...[9, 10, 15, 16, 17].map(near),
      fc.bigInt({ min: maxAmount, max: 4n * 10n ** 23n }),
      near(23),
    );
    const property = fc.asyncProperty(fc.array(fc.tuple(amount, amount), { minLength: 1 }), async (pairs) => {
      const answers = await store.eval(script, 1, 'muster:{t}', ...pairs.flat().map(String));
      expect(answers).to.deep.equal(
        pairs.flatMap(([a, b]) => [a + b, a > b ? a - b : b - a]).map((value) => String(value)),
      );
    });
    await fc.assert(property, { numRuns: 300 });
  });
});
