import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { draftOf } from '../../src/engine/library/loader.ts';
import { originOf } from '../../src/engine/library/source.ts';
import { luaNames } from '../../src/primitives/primitives.ts';
import { lint } from '../support/lint/lua.ts';

type Files = Readonly<Record<string, readonly string[]>>;

describe('A Lua file', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-lua-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** The words of the product with one more room, which has these files. */
  async function withRoom(files: Files) {
    for (const [name, lines] of Object.entries(files)) await writeFile(join(folder, name), lines.join('\n'));
    return { ...luaNames, folders: { faulty: folder } };
  }

  const shortened = (text: string): string => text.replaceAll(originOf(folder, 0), '');

  /** What the linter finds in a room with these files, as `file:line: what`. */
  const found = async (files: Files): Promise<string[]> =>
    (await lint(await withRoom(files), originOf(folder, 0))).map(shortened);

  /** The error with which the library of a product with these files is not made; '' if it is. */
  async function refusal(files: Files): Promise<string> {
    const words = await withRoom(files);
    try {
      draftOf(words);
      return '';
    } catch (error) {
      return shortened((error as Error).message);
    }
  }

  const helper = [
    '--- @export helper',
    '--- @include mailbox/_message',
    'local helper = {}',
    'function helper.state(id)',
    "  local record = message.load(id, 'state',",
    "    'token')",
    '  return record and record.state',
    'end',
  ];
  const using = ['--- @args wanted', '--- @reply state', '--- @include faulty/_helper'];

  it('knows its arguments, what it includes, and what Redis offers', async () => {
    const script = [
      '--- @request read',
      '--- @args wanted other',
      '--- @long payload',
      '--- @reply state rest',
      '--- @include lib/call',
      '--- @include lib/clock',
      '--- @include lib/space',
      '--- @include faulty/_helper',
      "if not spaceId then redis.call('SET', keys.message(other), cjson.encode(payload)) end",
      'return call.answer({ state = helper.state(wanted), rest = now })',
    ];
    expect(await found({ '_helper.lua': helper, 'run.lua': script })).to.deep.equal([]);
  });

  it('may use only what it defines or includes: the error names the file, the line and who exports it', async () => {
    const reading = (line: string, ...head: string[]) => refusal({ '_helper.lua': helper, 'run.lua': [...head, line] });
    expect(await reading('return colour')).to.equal('/run.lua:1: colour is defined nowhere, and exported by no file');
    expect(await reading('os.exit(1)')).to.equal('/run.lua:1: os is defined nowhere, and exported by no file');
    expect(await reading('return now')).to.equal('/run.lua:1: now is exported by lib/clock, which is not included');
    expect(await reading('return helper.state()')).to.equal(
      '/run.lua:1: helper is exported by faulty/_helper, which is not included',
    );
    expect(await reading('return helper.age()', ...using.slice(2))).to.equal('/run.lua:2: helper has no age');
    expect(await reading('message.finish()', '--- @include mailbox/_message')).to.equal(
      '/run.lua:2: message.finish is of mailbox/_end, which is not included',
    );
    expect(await reading('return 1', '--- @include faulty/_other')).to.equal(
      '/run.lua:1: it includes faulty/_other, which does not exist',
    );
  });

  it("keeps what it does not export to itself, and nobody's name is taken twice", async () => {
    const script = ['--- @include faulty/_time', 'return secret'];
    expect(
      await refusal({ '_time.lua': ['--- @export time', 'local time, secret = 1, 2'], 'run.lua': script }),
    ).to.equal('/run.lua:2: secret is defined nowhere, and exported by no file');
    expect(await refusal({ '_time.lua': ['--- @export time', 'local thyme = 1'] })).to.equal(
      '/_time.lua:1: it exports time, which it does not define',
    );
    expect(await refusal({ '_time.lua': ['--- @export sorted', 'local sorted = {}'] })).to.equal(
      'lua/lib/sorted.lua:1: sorted is exported by faulty/_time, too',
    );
  });

  it('assigns only its own: no variable, no table and no function of another file, unless that is a registry', async () => {
    const doing = (...lines: string[]) => refusal({ '_helper.lua': helper, 'run.lua': lines });
    expect(await doing('--- @include lib/clock', 'now = 1')).to.equal(
      '/run.lua:2: now is a variable of lib/clock: only that file assigns it',
    );
    expect(await doing('shade = 1')).to.contain('/run.lua:1: shade is');
    const isNoRegistry = 'helper is a table of faulty/_helper, which declares no registry';
    for (const line of [
      'helper.age = 1',
      'function helper.age() end',
      'helper.state = function() end',
      "helper['age'] = 1",
    ])
      expect(await doing('--- @include faulty/_helper', line), line)
        .to.contain('/run.lua:2: helper.')
        .and.contain(isNoRegistry);
    expect(await doing('--- @include mailbox/_message', 'function message.shine() end')).to.contain(
      'declares no registry',
    );
    expect(await doing('--- @include lib/hooks', "due['faulty:end'] = function() end")).to.equal('');
  });

  it('has lines of 120 columns at most', async () => {
    const long = ['--- Replies with a text.', `return '${'x'.repeat(112)}'`];
    expect(await found({ 'run.lua': long })).to.deep.equal(['/run.lua:2: 121 columns: 120 are the most']);
  });

  it('has the functions of its records in the files of its room, each name once', async () => {
    const twice = ['--- @include mailbox/_message', 'function message.read() end'];
    await writeFile(join(folder, '_again.lua'), twice.join('\n'));
    const words = { ...luaNames, folders: { mailbox: folder } };
    expect(() => draftOf(words)).to.throw('message.read is a function of mailbox/_message, too');
  });

  it('means the same with other comments, quotes and indents', async () => {
    const plain = [
      '--- @args id',
      '--- @reply text record',
      '--- @include mailbox/_message',
      '--- @include lib/records',
      "local record = message.load(id, 'state', 'attempts')",
      "records.set(record, 'state', redis.call('HGET', keys.message(id), 'state'))",
      "return { text = 'a -- b', record = record }",
    ];
    const other = [
      ...plain.slice(0, 4),
      '  --[[ keys.nothing()',
      "it's ]]",
      '\tlocal record = message.load( -- the first',
      '  id, "state",  -- \'token\'',
      '  "attempts")',
      "records.set(record, 'state', redis.call('HGET', keys.message(",
      "    id), 'state')) -- keys.message(",
      "return { text = 'a -- b', record = record }",
    ];
    /** The lines of the script, without white space between its tokens, by what they call. */
    const made = async (lines: readonly string[]): Promise<string> => {
      const { text } = draftOf(await withRoom({ 'run.lua': lines }));
      const from = text.slice(text.indexOf("name = 'faulty/run'"));
      return from.slice(0, from.indexOf('end\nscripts[')).replaceAll('"', "'").replaceAll(/\s+/g, '');
    };
    expect(await made(other)).to.equal(await made(plain));
    expect(await made(plain)).to.contain("{text='a--b',record=record}");
  });

  it('is refused if its header says something unknown, or not at its head', async () => {
    expect(await refusal({ 'run.lua': ['--- @arg id', 'return 1'] })).to.equal(
      '/run.lua:1: there is no directive @arg',
    );
    expect(await refusal({ 'run.lua': ['local id = 1', '--- @args id', 'return id'] })).to.equal(
      '/run.lua:2: @args must stand above the code',
    );
    expect(await refusal({ 'run.lua': ['--- @request sometimes', 'return 1'] })).to.contain('@request sometimes');
    expect(await refusal({ 'run.lua': ['', 'local ='] })).to.contain('/run.lua:2: <name> expected near');
  });

  it('has no findings: nothing unused, shadowed, unreachable, or exported for nobody', async () => {
    const script = [
      ...using,
      'local unused = 1',
      'local helper = helper',
      'local function twice(wanted)',
      '  local wanted = wanted',
      '  do return wanted end',
      '  return 1',
      'end',
      'return { state = twice(helper.state(wanted)) }',
    ];
    const more = [...helper, '', 'function helper.alone()', '  return 1', 'end'];
    expect(await found({ '_helper.lua': more, 'run.lua': script })).to.deep.equal([
      '/_helper.lua: helper.alone is used nowhere else',
      "/run.lua:4: unused variable 'unused'",
      "/run.lua:5: shadowing upvalue 'helper' in /run.lua",
      "/run.lua:6: shadowing upvalue 'wanted' in /run.lua",
      "/run.lua:7: variable 'wanted' was previously defined as an argument in /run.lua:6",
      '/run.lua:9: unreachable code',
    ]);
  });
});
