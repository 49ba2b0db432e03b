import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { MusterService } from '../../src/service.ts';
import { findPython } from '../support/python.ts';
import { delivering } from '../support/webhooks.ts';
import { World } from '../support/world.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'docs/examples');
const run = promisify(execFile);

/** What each prints. */
const printed: Record<string, RegExp> = {
  'budgeted-agent.py':
    /^why\? WHY\?\ncrash\? the model is away\nhow\? HOW\?\nwhen\? WHEN\?\nwhere\? WHERE\?\nwho\? the budget is used up\nwhat\? the budget is used up\nsettled 920, reserved 0, available 80\n$/,
  'crawler.py': /^pages: \/ \/a \/b \/c \/d\nrequests: 6\n$/,
  'fan-out.py':
    /^outcome: SATISFIED\nalpha SUCCEEDED ALPHA\nbeta SUCCEEDED BETA\nbroken FAILED ValueError: the page cannot be read\ngamma SUCCEEDED GAMMA\n$/,
  'model-calls.py': /^10 answers took 1500 of 5000 tokens\nthey cost 10500 millionths of a dollar\n$/,
  'phases.py':
    /^map: all have arrived\nshuffle: all have arrived\nreduce: all have arrived\nin order: map shuffle reduce\n$/,
  'report.py': /^queues: 12 finds, from queues in 2014 to queues in 2025\n$/,
  'reviewers.py': /^a good draft: SATISFIED\na poor draft: UNSATISFIABLE\n$/,
  'steps.py':
    /^600 words on queues, attempt 2\n600 words on leases, attempt 2\n600 words on clocks, attempt 2\n3 fetches; All about clocks, All about leases, All about queues\n$/,
  'workflow.py': /^Clocks: 40 chapters, 4591 words, printed \(attempt 1\)\n$/,
  'worker-pool.py': /^\{'ACKED': 19, 'REJECTED': 1\}\nwords: 54\ngiven up: \['there is no text'\]\nattempts: 21\n$/,
};

describe('the examples in Python', () => {
  let service: MusterService;
  let runs: Record<string, Promise<string>>;
  before(async () => {
    const python = await findPython();
    service = await delivering();
    const example = async (name: string): Promise<string> => {
      const world = await World.create({ on: service });
      const env = {
        ...python.env,
        PYTHONPATH: join(root, 'src/clients/python'),
        MUSTER_URL: world.url,
        MUSTER_KEY: world.apiKey,
        MUSTER_SPACE: world.spaceId,
      };
      return (await run(python.command, [join(folder, name)], { env })).stdout;
    };
    runs = Object.fromEntries(Object.keys(printed).map((name) => [name, example(name)]));
    for (const one of Object.values(runs)) one.catch(() => undefined);
  });
  after(() => service.stop());

  it('are all of them, and short', async () => {
    // The desk waits for a person: test/answer/desk.test.ts.
    const names = (await readdir(folder)).filter((name) => name.endsWith('.py') && name !== 'desk.py');
    expect(names.sort()).to.deep.equal(Object.keys(printed).sort());
    for (const name of names)
      expect((await readFile(join(folder, name), 'utf8')).split('\n').length - 1, name).to.be.at.most(60);
  });

  for (const [name, text] of Object.entries(printed))
    it(`${name} does what it says`, async () => {
      expect(await runs[name]).to.match(text);
    });
});
