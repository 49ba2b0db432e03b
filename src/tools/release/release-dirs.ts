import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Python 3.10 or newer, and the environment that it needs. */
export interface Python {
  readonly command: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Where a release is made: from a checkout, into a folder, with a scratch folder that is removed at the end. */
export interface ReleaseDirs {
  readonly root: string;
  readonly out: string;
  readonly scratch: string;
  readonly python: Python;
}

/** Runs a program to its end and returns its stdout. Its stderr is shown. */
export function run(cwd: string, program: string, words: readonly string[], env: NodeJS.ProcessEnv = {}): string {
  return execFileSync(program, words, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    // The bill of a checkout is long.
    maxBuffer: 64 * 1024 * 1024,
  });
}

export function folder(...names: string[]): string {
  const path = join(...names);
  mkdirSync(path, { recursive: true });
  return path;
}

/** Runs `work` in a dirs whose `out` is empty. */
export async function inReleaseDirs<Done>(
  root: string,
  out: string,
  python: Python,
  work: (dirs: ReleaseDirs) => Done | Promise<Done>,
): Promise<Done> {
  const scratch = mkdtempSync(join(tmpdir(), 'muster-release-'));
  rmSync(out, { recursive: true, force: true });
  folder(out);
  try {
    return await work({ root, out, scratch, python });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
