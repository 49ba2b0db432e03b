import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { luaRoot } from '../../src/redis/source.ts';
import { api } from '../support/world.ts';

const script = `${readFileSync(join(luaRoot, 'lib/later.lua'), 'utf8')}
local function play(gathers)
  later.begin()
  later.gathers = gathers
  local seen = {}
  for i, step in ipairs(cjson.decode(ARGV[1])) do
    local name, field, value = unpack(step)
    if name == 'add' then later.add(KEYS[2], field, value)
    elseif name == 'set' then later.set(KEYS[1], field, tostring(value))
    elseif name == 'get' then seen[#seen + 1] = later.get(KEYS[1], field)
    elseif name == 'enter' then later.enter(KEYS[3], tostring(value), field)
    elseif name == 'leave' then later.leave(KEYS[3], field)
    else later.settle(KEYS[value % 3 + 1]) end
  end
  later.write()
  local fields = {}
  for k = 1, 2 do
    for _, field in ipairs({ 'a', 'b', 'c' }) do fields[#fields + 1] = redis.call('HGET', KEYS[k], field) end
  end
  local members = redis.call('ZRANGE', KEYS[3], 0, -1, 'WITHSCORES')
  redis.call('DEL', unpack(KEYS))
  return cjson.encode({ seen, fields, members })
end
return { play(true), play(false) }`;

describe('Writes that wait for the end of a run', () => {
  it('leave what they would have left at once, and are seen meanwhile', async () => {
    const { store } = await api();
    const names = fc.constantFrom('add', 'set', 'set', 'get', 'enter', 'enter', 'leave', 'settle');
    const step = fc.tuple(names, fc.constantFrom('a', 'b', 'c'), fc.integer({ min: -3, max: 3 }));
    const keys = ['fields', 'counters', 'members'].map((name) => `muster:{t}:${name}`);
    const property = fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 30 }), async (steps) => {
      const [late, direct] = (await store.eval(script, 3, ...keys, JSON.stringify(steps))) as string[];
      expect(late).to.equal(direct);
    });
    await fc.assert(property, { numRuns: 200 });
  });
});
