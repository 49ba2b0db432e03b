import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { findPython } from '../../support/python.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const client = join(root, 'src/clients/python');
const mistakes = 'test/clients/checkers/mistakes.py';
const mypy = { version: '2.4.0', folder: join(root, '.mypy') };

/** The output of a program, whatever its exit status. */
function printed(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd: root, env, maxBuffer: 16 * 1024 * 1024 }, (_, stdout, stderr) =>
      resolve(stdout || stderr),
    );
  });
}

/** The lines of files that a checker reports, as `path:line`. */
type Check = (files: readonly string[]) => Promise<string[]>;

const linesIn = (text: string, form: RegExp): string[] => [
  ...new Set([...text.matchAll(form)].map(([, path = '', line]) => `${path.replace(root, '')}:${line}`)),
];

const checkers: Readonly<Record<string, Check>> = {
  async mypy(files) {
    const { command, env } = await findPython();
    if (!existsSync(mypy.folder)) {
      const install = ['-m', 'pip', 'install', '--quiet', '--target', mypy.folder, `mypy==${mypy.version}`];
      console.log(`    installing mypy ${mypy.version} into ${mypy.folder}`);
      await printed(command, install, env);
    }
    const paths = { ...env, PYTHONPATH: mypy.folder, MYPYPATH: client };
    const cache = join(mypy.folder, '.cache');
    const args = ['-m', 'mypy', '--strict', '--follow-imports=silent', '--cache-dir', cache, ...files];
    const text = await printed(command, args, paths);
    // A program that could not run has found nothing.
    expect(text).to.match(/^(Found \d+ errors?|Success: no issues)/m);
    return linesIn(text, /^(\S+\.py):(\d+): error:/gm);
  },
  async pyright(files) {
    const { command } = await findPython();
    const args = [join(root, 'node_modules/pyright/index.js'), '--pythonpath', command, ...files];
    const text = await printed(process.execPath, args, { ...process.env, PYTHONPATH: client });
    expect(text).to.match(/^\d+ errors?, /m);
    return linesIn(text, /^ {2}(\S+\.py):(\d+):\d+ - error:/gm);
  },
};

const filesOf = (folder: string): string[] =>
  readdirSync(join(root, folder)).flatMap((name) => (name.endsWith('.py') ? `${folder}/${name}` : []));

for (const [name, check] of Object.entries(checkers))
  describe(`The Python client as ${name} sees it`, () => {
    it('fits the examples and the receivers of the docs', async () => {
      expect(await check([...filesOf('docs/examples'), ...filesOf('docs/receivers')])).to.deep.equal([]);
    });

    it('refuses the mistakes of a user, and nothing else', async () => {
      const lines = readFileSync(join(root, mistakes), 'utf8').split('\n');
      const wrong = lines.flatMap((line, at) => (line.endsWith('# wrong') ? [`${mistakes}:${at + 1}`] : []));
      expect(await check([mistakes])).to.have.members(wrong);
    });
  });
