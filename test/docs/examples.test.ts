import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import pino from 'pino';
import { type MusterService, startService } from '../../src/service.ts';
import { OwnStore } from '../support/own-store.ts';
import { World } from '../support/world.ts';

const folder = new URL('../../docs/examples/', import.meta.url);

/** The expected output of each program; lines whose order may vary are sorted. */
const printed: Readonly<Record<string, readonly string[]>> = {
  'worker-pool': [
    '19 texts have 190 words',
    'text 0 is REJECTED: it has failed',
    'text 7 comes back',
    'text 7 is READY: it has failed',
  ],
  'fan-out': ['10 tasks found 168 primes below 1000; 1 failed'],
  reviewers: ['SATISFIED: 3 of 5 approve'],
  'budgeted-agent': [
    '3 answers cost 75 of 100 cents; 0 are set aside',
    'an impossible one: the model does not know',
    'question 4: the budget is used up',
  ],
  phases: ['4 shares make 1.00; the barrier is at epoch 3'],
  'fenced-store': [
    'its hold has LAPSED; the file says: the final report',
    'the sleeper is refused: somebody else has written since',
  ],
  crawler: ['15 pages in 16 requests, 1 of them refused'],
  'model-calls': [
    '10 answers took 1500 of 5000 tokens',
    "10500 of the company's are spent",
    'they cost 10500 millionths of a dollar, 10500 of them for answers',
  ],
  report: ['queues: 12 finds, from queues in 2014 to queues in 2025'],
  steps: [
    '3 fetches; All about clocks, All about leases, All about queues',
    '600 words on clocks, attempt 2',
    '600 words on leases, attempt 2',
    '600 words on queues, attempt 2',
  ],
  workflow: ['Clocks: 40 chapters, 4591 words, printed (attempt 1)'],
  'mcp-agent': ['goodbye: GOODBYE', 'hello: HELLO', 'there are tools to message_recv and message_complete'],
};

/** On the real clock, with workers, so that windows and cooldowns end. */
describe('docs/examples', () => {
  let store: OwnStore;
  let service: MusterService;
  const { log } = console;
  const { MUSTER_URL, MUSTER_KEY, MUSTER_SPACE } = process.env;

  before(async () => {
    store = await OwnStore.start();
    const settings = { role: 'all', host: '127.0.0.1', port: 0, log: pino({ level: 'silent' }) } as const;
    service = await startService({ redisUrl: store.url, ...settings });
    const world = await World.create({ on: service });
    Object.assign(process.env, { MUSTER_URL: world.url, MUSTER_KEY: world.apiKey, MUSTER_SPACE: world.spaceId });
  });
  after(async () => {
    for (const [name, value] of Object.entries({ MUSTER_URL, MUSTER_KEY, MUSTER_SPACE }))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    await service.stop();
    await store.stop();
  });
  afterEach(() => {
    console.log = log;
  });

  for (const [name, lines] of Object.entries(printed))
    it(`${name}.ts runs as it is, and prints the expected lines`, async () => {
      const said: string[] = [];
      console.log = (text) => said.push(String(text));
      await import(new URL(`${name}.ts`, folder).href);
      expect(said.sort()).to.deep.equal(lines);
    });

  it('are complete programs of at most 60 lines, all of them run here', () => {
    // The desk waits for a person: test/answer/desk.test.ts.
    const files = readdirSync(folder).filter((file) => file.endsWith('.ts') && file !== 'desk.ts');
    expect(files).to.have.members(Object.keys(printed).map((name) => `${name}.ts`));
    for (const file of files)
      expect(readFileSync(new URL(file, folder), 'utf8').split('\n').length, file).to.be.at.most(61);
  });
});
