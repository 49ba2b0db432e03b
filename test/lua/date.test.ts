import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { luaRoot } from '../../src/engine/library/source.ts';
import { api } from '../support/world.ts';

const day = 86_400_000;
const days = Date.UTC(2201, 0) / day;
const script = `${readFileSync(join(luaRoot, 'lib/date.lua'), 'utf8')}
local dates = {}
for i = 0, ${days} do dates[i + 1] = dateOf(i * ${day} + i % 2 * ${day - 1}) end
return dates`;

describe('Dates in scripts', () => {
  it('are in UTC, from 1970 to 2200, from the first to the last millisecond of a day', async () => {
    const { store } = await api();
    const right = Array.from({ length: days + 1 }, (_, i) => new Date(i * day).toISOString().slice(0, 10));
    expect(await store.eval(script, 1, 'muster:{t}')).to.deep.equal(right);
  });
});
