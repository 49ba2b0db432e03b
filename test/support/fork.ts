import { type ChildProcess, fork } from 'node:child_process';

/** Runs a TypeScript file in a process of its own. mocha's process requires tsx, which forks do not inherit. */
export function forkFile(path: string, args: readonly string[]): ChildProcess {
  return fork(path, args, { execArgv: ['--import', 'tsx'] });
}
