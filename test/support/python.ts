import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findProgram, type Program, type ProgramKind, setUp } from '../../src/external-programs/find.ts';

const run = promisify(execFile);

const kind: ProgramKind = {
  label: 'Python',
  wanted: 'Python 3.10 or newer',
  variable: 'PYTHON',
  names: ['python3'],
  packages: ['python3', 'python3-minimal', 'python3-pip'],
  path: 'usr/bin/python3',
  // Its libraries are in the folder it was unpacked to.
  environment: (root) => ({ PYTHONHOME: join(root, 'usr'), PATH: `${join(root, 'usr/bin')}:${process.env['PATH']}` }),
  versionIn: (printed) => {
    const [, version, minor] = /^Python (3\.(\d+)\S*)/.exec(printed) ?? [];
    if (version === undefined || Number(minor) < 10) throw new Error('it is older than 3.10');
    return version;
  },
  whatToDo: 'install Python (apt install python3 python3-pip), or set PYTHON to its program',
};

const place = {
  log: (line: string): void => console.log(`    ${line}`),
  env: process.env,
  folder: fileURLToPath(new URL('../../.python', import.meta.url)),
};

let known: Promise<Program> | undefined;

/** Python with pip: from PYTHON, PATH, or the distribution's packages, downloaded once into `.python/`. */
export function findPython(): Promise<Program> {
  known ??= find();
  return known;
}

async function find(): Promise<Program> {
  const found = await findProgram(kind, place);
  const hasPip = await run(found.command, ['-m', 'pip', '--version'], { env: found.env }).then(
    () => true,
    () => false,
  );
  const { command, env, version } = hasPip ? found : await setUp(kind, place);
  // Compiling the client takes three quarters of the time that a short program runs, and dozens of them run, so they keep what
  // they have compiled. A version manager puts a script in its place on PATH, which costs more than Python's own start.
  const { stdout } = await run(command, ['-c', 'import sys; print(sys.executable)'], { env });
  return { command: stdout.trim(), env: { ...env, PYTHONDONTWRITEBYTECODE: '' }, version };
}
