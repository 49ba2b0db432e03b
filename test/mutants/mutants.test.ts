import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { luaChanges } from './lua.ts';
import { drawn, type Mutant, mutantsOf, nameOf } from './mutant.ts';
import { Records } from './records.ts';
import { mutantsIn, targets } from './targets.ts';
import { copyOf } from './tree.ts';
import { Trial } from './trial.ts';
import { typescriptChanges } from './typescript.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const shown = (mutants: readonly Mutant[]): string[] => mutants.map(({ kind, becomes }) => `${kind}: ${becomes}`);

describe('mutants', () => {
  const kind = process.env['TEST_REDIS'];
  // Its stores start sooner.
  before(() => {
    process.env['TEST_REDIS'] = 'plain';
  });

  after(() => {
    if (kind === undefined) delete process.env['TEST_REDIS'];
    else process.env['TEST_REDIS'] = kind;
  });

  it('change one comparison, operator, constant, call or condition of a Lua file', () => {
    const text = "if not (a < 2 and b) then\n  drop(a)\nend\nreturn a .. 'x', true";
    expect(shown(mutantsOf('a.lua', text, luaChanges(text)))).to.have.members([
      'operator: if (a < 2 and b) then',
      'condition made false: if false then',
      'comparison: if not (a <= 2 and b) then',
      'constant: if not (a < 3 and b) then',
      'operator: if not (a < 2 or b) then',
      'dropped call: ',
      "constant: return a .. 'x~', true",
      "constant: return a .. 'x', false",
    ]);
  });

  it('change the same of a TypeScript file, and leave its types alone', () => {
    const text = "import a from 'a';\nconst b: 'x' | 1 = !a ? 1 : 'x';\nif (b === 1) await f();\n";
    expect(shown(mutantsOf('a.ts', text, typescriptChanges(text)))).to.have.members([
      "condition made false: const b: 'x' | 1 = false ? 1 : 'x';",
      "operator: const b: 'x' | 1 = a ? 1 : 'x';",
      "constant: const b: 'x' | 1 = !a ? 2 : 'x';",
      "constant: const b: 'x' | 1 = !a ? 1 : 'x~';",
      'condition made false: if (false) await f();',
      'comparison: if (b !== 1) await f();',
      'constant: if (b === 2) await f();',
      'dropped call: if (b === 1) ;',
    ]);
  });

  it('are drawn in the same order by the same seed, also when lines above them have moved', () => {
    const [note] = targets(root).filter(({ name }) => name === 'note');
    const mutants = mutantsIn(root, note?.files ?? []);
    const names = drawn(mutants, 1).map(nameOf);
    const moved = mutants.map((mutant) => ({ ...mutant, at: mutant.at + 1 }));
    expect(drawn(moved.reverse(), 1).map(nameOf)).to.deep.equal(names);
    expect(drawn(mutants, 2).map(nameOf)).to.not.deep.equal(names);
  });

  it('a change that a test notices dies by it, others survive, and a run that begins again knows it', async () => {
    const tree = copyOf(root, /^(src|lua|test\/(support|mutants|spec\/barrier))\/|^[^/]+$/);
    const file = 'lua/barrier/nextEpoch.lua';
    const original = readFileSync(join(root, file), 'utf8');
    const target = { name: 'barrier', files: [file], tests: ['test/spec/barrier/wait.test.ts'], isLua: true };
    const planted = mutantsIn(root, [file]).find(({ line }) => line.startsWith("records.set(record, 'epoch'"));
    const noOp = { ...(planted as Mutant), becomes: 'the same', text: `${original}\n-- the same\n` };
    const trial = new Trial(tree, target, new Records(root, 'barrier', join(tree, 'records')), 1);
    try {
      expect(await trial.try(planted as Mutant)).to.include({ fate: 'died', test: target.tests[0] });
      expect(await trial.try(noOp)).to.include({ fate: 'survived' });
      expect(await trial.try({ ...noOp, becomes: 'nothing', text: 'return nothing' })).to.include({ fate: 'invalid' });
    } finally {
      await trial.end();
    }
    const records = new Records(root, 'barrier', join(tree, 'records'));
    expect(records.outcome(planted as Mutant, target.tests)?.fate).to.equal('died');
    expect(records.outcome(noOp, target.tests)?.fate).to.equal('survived');
    expect(records.outcome({ ...noOp, becomes: 'another' }, target.tests)).to.equal(undefined);
  }).timeout(900_000);
});
