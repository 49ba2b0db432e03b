import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { allWords } from '../../src/primitives.ts';
import { originOf } from '../../src/redis/lua-lines.ts';
import { lint } from '../support/lint/lua.ts';

describe('The linter of Lua files', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-lua-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** The findings in a room with these files, as `file:line: what`. */
  async function found(files: Record<string, string[]>): Promise<string[]> {
    for (const [name, lines] of Object.entries(files)) await writeFile(join(folder, name), lines.join('\n'));
    const findings = await lint(
      Object.keys(files)
        .filter((name) => !name.startsWith('_'))
        .map((name) => `faulty/${name.replace('.lua', '')}`),
      { ...allWords, folders: { faulty: folder } },
    );
    // These scripts use little of lua/, which is therefore reported as unused.
    return findings.map((text) => text.replaceAll(originOf(folder, 0), '')).filter((text) => text.startsWith('/'));
  }

  const helper = [
    '--- @include "lib/space"',
    '--- @include "mailbox/_message"',
    'local helper = {}',
    'function helper.state(id)',
    "  local record = message.load(id, 'state',",
    "    'token')",
    '  return record and record.state',
    'end',
  ];

  it('knows arguments, helpers, records and what Redis offers', async () => {
    const script = [
      '--- @args wanted other',
      '--- @long payload',
      '--- @reply state rest',
      '--- @include "lib/call"',
      '--- @include "faulty/_helper"',
      'call.read()',
      "if not spaceId then redis.call('SET', keys.message(other), cjson.encode(payload)) end",
      'return call.answer({ state = helper.state(wanted), rest = now })',
    ];
    expect(await found({ '_helper.lua': helper, 'run.lua': script })).to.deep.equal([]);
  });

  it('names the line of anything undefined, unused, shadowed, unreachable, invalid, or used by no script', async () => {
    const script = [
      '--- @args wanted',
      '--- @include "faulty/_helper"',
      "-- Neither is Redis's to offer.",
      'os.exit(colour)',
      "print('a')",
      'local unused = 1',
      'local helper = helper',
      'local function twice(wanted)',
      '  local wanted = wanted',
      '  do return wanted end',
      '  return 1',
      'end',
      'shade = twice(helper.state(wanted))',
    ];
    const more = [...helper, '', 'function helper.alone()', '  return 1', 'end'];
    expect(await found({ '_helper.lua': more, 'run.lua': script })).to.deep.equal([
      '/_helper.lua:10: no script uses this',
      "/run.lua:4: accessing undefined variable 'colour'",
      "/run.lua:4: accessing undefined variable 'os'",
      "/run.lua:5: accessing undefined variable 'print'",
      "/run.lua:6: unused variable 'unused'",
      "/run.lua:7: shadowing upvalue 'helper' in /_helper.lua:3",
      "/run.lua:8: shadowing upvalue 'wanted' in /run.lua",
      "/run.lua:9: variable 'wanted' was previously defined as an argument in /run.lua:8",
      '/run.lua:11: unreachable code',
      "/run.lua:13: setting non-standard global variable 'shade'",
    ]);
    expect(await found({ '_helper.lua': ['local ='], 'run.lua': script.slice(0, 2) })).to.deep.equal([
      "/_helper.lua:1: expected identifier near '='",
    ]);
  });

  it('reports what a file uses without including it, even if another one of its room includes it', async () => {
    const helper = ['local function time()', '  return now', 'end'];
    const script = ['--- @include "lib/clock"', '--- @include "faulty/_time"', 'return time()'];
    const scripts = { '_time.lua': helper, 'one.lua': script, 'two.lua': script, 'other.lua': ['return now'] };
    expect(await found(scripts)).to.deep.equal([
      "/_time.lua:2: accessing undefined variable 'now'",
      "/other.lua:1: accessing undefined variable 'now'",
    ]);
  });
});
