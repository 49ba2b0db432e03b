import { expect } from 'chai';
import { lintTests } from '../support/lint/tests.ts';

const found = (...words: string[]): string[] => lintTests('test/spec/lock/lock.test.ts', words.join(''));

describe('The linter of tests', () => {
  it('refuses a title without a subject, or one that is too long', () => {
    expect(found('it', "('that lapses is free again', () => {});")).to.deep.equal([
      'test/spec/lock/lock.test.ts:1: a title begins with its subject: that lapses is free again',
    ]);
    expect(found('it', '("of 200 at once one is granted", () => {});')).to.have.length(1);
    expect(found('it', `('a lock ${'x'.repeat(110)}', () => {});`)[0]).to.contain('at most 110 characters');
    expect(found('it', "('a lapsed lock is free again', () => {});")).to.deep.equal([]);
  });

  it('refuses a bound of real time, and takes what happens no sooner than it may', () => {
    for (const words of [
      ['expect(performance', '.now() - begun).to.be.', 'below(300);'],
      ['expect(Date.parse(at) - Date', '.now()).to.be.', 'within(0, 2000);'],
      ['const deadline = new Date(Date', '.now() + 300).toISOString();'],
      ['this.time', 'out(2_000);'],
      ['  const pace = await Pa', 'ce.begin();'],
    ])
      expect(found(...words), words.join('')).to.have.length(1);
    expect(found('expect(performance', '.now() - begun).to.be.', 'at.least(950);')).to.deep.equal([]);
  });

  it('refuses an address outside this machine', () => {
    expect(found("url: 'https://93.184.", "215.14/hook'")).to.have.length(1);
    expect(found("url: 'https://127.0.0.1:9/hook'")).to.deep.equal([]);
  });

  it('refuses an await outside of functions, for which mocha would load the service and its store twice', () => {
    for (const words of [
      "const text = await readFile('x');",
      "const all = (await readdir('.')).sort();",
      'await begin();',
    ])
      expect(found(words), words).to.have.length(1);
    expect(found('const text = async () => await begin();\n  await begin();')).to.deep.equal([]);
  });
});
