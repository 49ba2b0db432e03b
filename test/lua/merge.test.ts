import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { luaRoot } from '../../src/engine/library/source.ts';
import { api } from '../support/world.ts';

const script = `${readFileSync(join(luaRoot, 'lib/merge.lua'), 'utf8')}
local function play(open, scored)
  local cursors = {}
  for owner, key in ipairs(KEYS) do
    for _, number in ipairs(cjson.decode(ARGV[1])[owner]) do
      redis.call('ZADD', key, scored and number or 0, string.format('%04d', number))
    end
    local cursor = open(key, owner)
    if cursor.at then cursors[#cursors + 1] = cursor end
  end
  local found = {}
  for i, entry in ipairs(merge.take(tonumber(ARGV[2]), merge.inOrder(cursors))) do found[i] = tonumber(entry.member) end
  redis.call('DEL', unpack(KEYS))
  return found
end
return { play(merge.byScore, true), play(merge.byAge, false) }`;

describe('Merged sorted sets', () => {
  it('give the first members of all in order, by score or newest first', async () => {
    const { store } = await api();
    const numbers = fc.uniqueArray(fc.nat(9999), { maxLength: 80 });
    const keys = Array.from({ length: 6 }, (_, i) => `muster:{t}:set${i}`);
    const owners = fc.array(fc.nat(5), { minLength: 80, maxLength: 80 });
    const property = fc.asyncProperty(numbers, owners, fc.nat(40), async (all, owner, limit) => {
      const sets = keys.map((_, i) => all.filter((_number, n) => owner[n] === i));
      const found = await store.eval(script, keys.length, ...keys, JSON.stringify(sets), limit);
      const ascending = all.toSorted((a, b) => a - b);
      expect(found).to.deep.equal([ascending.slice(0, limit), ascending.toReversed().slice(0, limit)]);
    });
    await fc.assert(property, { numRuns: 150 });
  });
});
