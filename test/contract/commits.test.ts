import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const root = fileURLToPath(new URL('../../', import.meta.url));
const hook = join(root, '.githooks/commit-msg');

describe('The subject of a commit', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'muster-commits-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  /** What the hook says of a message; '' if it takes it. */
  const said = (message: string): string => {
    const file = join(folder, 'message');
    writeFileSync(file, message);
    const { status, stderr } = spawnSync(hook, [file], { encoding: 'utf8' });
    expect(status).to.equal(stderr === '' ? 0 : 1);
    return stderr;
  };

  it('is imperative, behind what it changes', () => {
    for (const good of [
      'mailbox: refuse a deadline that has passed',
      'src/call, http: hold calls in one place\n\nWhy.',
    ])
      expect(said(good), good).to.equal('');
    for (const bad of [
      'mailbox: refused a deadline',
      'mailbox: refusing it',
      'mailbox: a new deadline',
      'mailbox: the way',
    ])
      expect(said(bad), bad).to.match(/is no verb of \.githooks\/verbs\.txt: say what the commit does/);
    expect(said('Refuse a deadline')).to.contain('it begins with what it changes');
    expect(said('mailbox: refuse it.')).to.contain('full stop');
  });

  it('has at most 72 characters; merges, reverts and fixups are left alone', () => {
    const long = `mailbox: refuse ${'x'.repeat(56)}`;
    expect(said(long)).to.equal('');
    expect(said(`${long}x`)).to.contain('it has 73 characters, which are more than 72');
    for (const other of ['Merge words: fields describe themselves', `Revert "${long}"`, `fixup! ${long}`])
      expect(said(other), other).to.equal('');
  });

  it('is looked at for a range, too, as CI does', () => {
    const git = (...words: string[]) => execFileSync('git', words, { cwd: folder, stdio: 'pipe' });
    git('init', '-q');
    for (const subject of ['docs: say what a pool is', 'docs: said what a pool is'])
      git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', subject);
    const range = (what: string) =>
      spawnSync(process.execPath, [join(root, '.githooks/subjects.mjs'), what], { cwd: folder, encoding: 'utf8' });
    expect(range('HEAD~1..HEAD')).to.include({ status: 1 });
    expect(range(`${'0'.repeat(40)}..HEAD`).stderr).to.match(/^docs: said what a pool is\n {2}"said" is no verb/);
    expect(range('HEAD~1').status).to.equal(0);
  });
});
