// Checks the subjects of commits: `node .githooks/subjects.mjs main..HEAD`, or the message in a file, as the hook does.
// `area: imperative`, at most 72 characters; merges, reverts and fixups are left alone.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const maxLength = 72;
const verbs = new Set(readFileSync(new URL('verbs.txt', import.meta.url), 'utf8').split(/\s+/));

/** What is wrong with a subject; undefined: nothing. */
export function mistakeIn(subject) {
  if (/^(Merge|Revert|fixup!|squash!|amend!) /.test(subject)) return undefined;
  if (subject.length > maxLength) return `it has ${subject.length} characters, which are more than ${maxLength}`;
  const [, first] = /^[a-z0-9._/, -]+: (\S+)/.exec(subject) ?? [];
  if (first === undefined) return 'it begins with what it changes, in lower case: "mailbox: refuse …"';
  if (!verbs.has(first))
    return `"${first}" is no verb of .githooks/verbs.txt: say what the commit does, "mailbox: refuse …", or add the verb`;
  if (subject.endsWith('.')) return 'it ends with a full stop';
  return undefined;
}

function subjectsOf(what) {
  if (existsSync(what)) return [readFileSync(what, 'utf8').split('\n', 1)[0]];
  // A new branch has nothing before it: its last commit is looked at.
  const range = what.replace(/^0{40}\.\.(.*)$/, '$1^..$1');
  return execFileSync('git', ['log', '--format=%s', range], { encoding: 'utf8' }).split('\n').filter(Boolean);
}

const [, program, what] = process.argv;
if (program?.endsWith('subjects.mjs') && what !== undefined)
  for (const subject of subjectsOf(what)) {
    const mistake = mistakeIn(subject);
    if (mistake === undefined) continue;
    console.error(`${subject}\n  ${mistake}`);
    process.exitCode = 1;
  }
