import { expect } from 'chai';
import { withoutUnused } from '../../src/redis/lua-unused.ts';

describe('A function in a library that nothing uses', () => {
  const helper = [
    'local tool = {}',
    'local function part()',
    '  if true then return 1 end',
    'end',
    'function tool.used(x) return part(x) end',
    'function tool.unused()',
    '  return tool.also()',
    'end',
    'function tool.also() return 2 end',
    'function due.later() return 3 end',
    "due['tool:late'] = function() return 4 end",
  ].join('\n');

  it('is left out with what only it uses; registered functions and code outside functions stay', () => {
    const [text] = withoutUnused([helper], 'return tool.used(1)', new Set(['due']));
    expect(text?.split('\n')).to.deep.equal([
      'local tool = {}',
      'local function part()',
      '  if true then return 1 end',
      'end',
      'function tool.used(x) return part(x) end',
      'function due.later() return 3 end',
      "due['tool:late'] = function() return 4 end",
      '',
    ]);
  });

  it('is left out even if its name is the start of a used one', () => {
    const [text] = withoutUnused([helper], 'return tool.used_by_others(tool.also())', new Set());
    expect(text).to.include('tool.also').and.to.not.include('tool.used').and.to.not.include('part');
  });
});
