import { expect } from 'chai';
import { muster } from '../support/cli.ts';

const commands = {
  org: ['create', 'show', 'list', 'set-plan'],
  space: ['create', 'list'],
  key: ['create', 'list', 'revoke'],
  audit: ['list'],
  snapshot: ['list', 'create', 'verify', 'restore'],
  question: ['list', 'answer', 'link'],
  top: [],
  memory: [],
  import: ['bullmq'],
};

describe('--help', () => {
  it('lists the nouns, where errors go and which store is used, and needs no store', async () => {
    const { status, stdout, stderr } = await muster(['--help'], {});
    expect([status, stderr]).to.deep.equal([0, '']);
    for (const noun of Object.keys(commands)) expect(stdout).to.match(new RegExp(`^  ${noun} `, 'm'));
    for (const word of ['JSON', 'REDIS_URL', 'DATA_DIR', 'npm start']) expect(stdout).to.include(word);
  });

  it("for space commands explains how to raise requests a minute to the plan's figure", async () => {
    const outcomes = await Promise.all(['org', 'space'].map((noun) => muster([noun, 'create', '--help'], {})));
    for (const { stdout } of outcomes)
      expect(stdout).to.match(/600 requests a minute.*plan.*PUT \/v1\/spaces\/<spaceId>\/limits.*requestsPerMinute/s);
  });

  for (const [noun, verbs] of Object.entries(commands)) {
    it(`for ${noun} and each of its commands has an example to paste`, async () => {
      const lines = [[noun], ...verbs.map((verb) => [noun, verb])];
      const outcomes = await Promise.all(lines.map((line) => muster([...line, '--help'], {})));
      for (const [index, { status, stdout }] of outcomes.entries()) {
        expect(status).to.equal(0);
        expect(stdout).to.include(`Usage: muster ${lines[index]?.join(' ')}`);
        expect(stdout).to.match(new RegExp(`^Examples?:\n  muster ${lines[index]?.join(' ')}( |$)`, 'm'));
      }
    });
  }
});
