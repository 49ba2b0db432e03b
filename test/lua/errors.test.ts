import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { luaRoot } from '../../src/engine/library/source.ts';
import { ScriptFailure, Scripts } from '../../src/engine/redis/scripts.ts';
import { luaNames } from '../../src/primitives/primitives.ts';
import { api } from '../support/world.ts';

describe('An error in a script', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-lua-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Runs `faulty/run` in a room with these files. */
  async function failure(files: Record<string, string[]>): Promise<string> {
    for (const [name, lines] of Object.entries(files)) await writeFile(join(folder, name), lines.join('\n'));
    const { store } = await api();
    const scripts = new Scripts(store, { ...luaNames, folders: { faulty: folder } });
    const error = await scripts.execute('faulty/run', 'nobody', { wanted: 'x' }).catch((thrown: Error) => thrown);
    expect(error).to.be.instanceOf(ScriptFailure);
    return String(error);
  }

  const expectRejected = async (call: Promise<unknown>, text: string): Promise<void> => {
    expect(String(await call.catch(String))).to.contain(text);
  };

  /** A line of such a file, as messages name it. */
  const line = (name: string, number: number): string =>
    `${relative(join(luaRoot, '..'), join(folder, name))}:${number}`;

  const helper = [
    '--- @export helped',
    '--- @include org/_apiKey',
    '--- Says something.',
    '',
    '',
    'local function helped(value)',
    '  -- No such field.',
    "  local record = apiKey.load(value, 'keyId',",
    "    'name')",
    '  return record.keyId.nothing',
    'end',
  ];
  const includes = ['--- @args wanted', '--- @include faulty/_helper'];

  it('names file and line of a helper', async () => {
    const message = await failure({ '_helper.lua': helper, 'run.lua': [...includes, 'helped(wanted)'] });
    expect(message)
      .to.match(/^Error: faulty\/run: ERR /)
      .and.to.contain(`${line('_helper.lua', 10)}: attempt to index`);
  });

  it('names file and line of a script', async () => {
    const message = await failure({
      '_helper.lua': helper,
      'run.lua': [...includes, '', '-- Says nothing.', "local a = 'wanted'", '', 'return a + 1'],
    });
    expect(message).to.contain(`${line('run.lua', 7)}: attempt to perform arithmetic on local 'a'`);
    expect(message).not.to.contain('user_function');
  });

  it('names file and line of a syntax error, and of an error while loading', async () => {
    const noLua = failure({ '_helper.lua': [...helper, '', 'local = 1'], 'run.lua': includes });
    await expectRejected(noLua, `${line('_helper.lua', 13)}: <name> expected near '='`);
    const fails = await failure({ '_helper.lua': [...helper, 'local _ = nil + 1'], 'run.lua': includes });
    expect(fails)
      .to.contain('Error registering functions')
      .and.to.contain(`${line('_helper.lua', 12)}: `);
  });

  it("names file and line of the command if the error is the store's", async () => {
    const { store, scripts } = await api();
    await store.set('muster:{mistyped}:timers', 'no sorted set');
    const sweep = { spaceId: '', requestId: '', maxChanges: 1 };
    const message = await scripts.execute('timer/sweep', 'mistyped', sweep).catch(String);
    await store.del('muster:{mistyped}:timers');
    const lines = (await readFile(join(luaRoot, 'lib/sorted.lua'), 'utf8')).split('\n');
    const number = 1 + lines.findIndex((text) => text.includes("redis.call('ZRANGE'"));
    expect(message)
      .to.match(/^Error: timer\/sweep: WRONGTYPE /)
      .and.to.contain(`on lua/lib/sorted.lua:${number}.`);
  });
});
