import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { readOptions } from './peers/settings.ts';

const run = promisify(execFile);

describe('npm run bench:peers', () => {
  it('measures Muster and BullMQ, which need nothing but what npm installs', async () => {
    // Twelve processes start: seconds on an idle machine.
    const only = ['--messages', '40', '--rounds', '1', '--connections', '4', '--only', 'muster,bullmq,bullmq-koa'];
    const { stdout } = await run(process.execPath, ['--import', 'tsx', 'test/bench/peers/main.ts', ...only]);

    const figures = String.raw`[\d,]+ +\d+\.\d\d +[\d,]+ +[\d,]+ +[\d,]+ +\d+\.\d\d`;
    for (const row of ['Muster +HTTP', 'BullMQ +in process', 'BullMQ +bare Koa']) {
      expect(stdout).to.match(new RegExp(`^${row} +AOF, fsync 1 s +${figures}$`, 'm'));
    }
    expect(stdout).not.to.include('not measured');
  });

  it('refuses a peer it does not know, by naming those it knows', () => {
    expect(() => readOptions(['--only', 'kafka'])).to.throw(/^--only knows muster, .*bullmq, .*, not "kafka"$/);
  });
});
