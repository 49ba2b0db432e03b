import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { atExit } from '../../src/external-programs/at-exit.ts';
import { until } from '../support/processes.ts';
import { isRunning } from './support.ts';

const program = fileURLToPath(new URL('at-exit-program.ts', import.meta.url));

describe('The end of a process that has started servers', () => {
  let scratch: string;
  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'muster-exit-'));
  });
  after(() => rm(scratch, { recursive: true, force: true }));

  for (const [how, status, signal] of [
    ['SIGINT', null, 'SIGINT'],
    ['SIGTERM', null, 'SIGTERM'],
    ['SIGHUP', null, 'SIGHUP'],
    ['throw', 1, null],
    ['exit', 3, null],
  ] as const)
    it(`ends all of them: ${how}`, async () => {
      const env = { ...process.env, TMPDIR: scratch };
      const child = fork(program, [how], { execArgv: ['--import', 'tsx'], env, silent: true });
      const exited = once(child, 'exit');
      const [pids] = (await once(child, 'message')) as [number[]];
      expect(pids).to.have.lengthOf(6);
      expect(pids.filter((pid) => !isRunning(pid))).to.deep.equal([]);
      if (signal !== null) child.kill(signal);
      expect(await exited).to.deep.equal([status, signal]);
      await until(() => !pids.some(isRunning));
    });

  it('is left to those that listen to its signals, however they do', () => {
    const calls: string[] = [];
    const listener = (): void => void calls.push('heard');
    for (const listen of ['on', 'once'] as const)
      for (const isFirst of [true, false]) {
        if (isFirst) process[listen]('SIGHUP', listener);
        const takeBack = atExit(() => calls.push('ended'));
        if (!isFirst) process[listen]('SIGHUP', listener);
        process.emit('SIGHUP', 'SIGHUP');
        takeBack();
        process.off('SIGHUP', listener);
      }
    expect(calls).to.deep.equal(['heard', 'heard', 'heard', 'heard']);
  });
});
