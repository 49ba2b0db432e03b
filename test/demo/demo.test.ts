import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { endAtExit } from '../../src/external-programs/at-exit.ts';

const program = fileURLToPath(new URL('../../dist/demo/main.js', import.meta.url));

describe('npm run demo', () => {
  let scratch = '';
  let temporary = '';
  let demo: ChildProcess | undefined;
  let output = '';

  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'muster-demo-test-'));
    for (let n = 1; n <= 12; n++) {
      const folder = join(scratch, 'files', n < 4 ? `@scope/${n}` : String(n), 'deeper');
      await mkdir(folder, { recursive: true });
      for (let file = 0; file < n * 3; file++) await writeFile(join(folder, `${file}.txt`), 'x'.repeat(n * file));
    }
  });
  beforeEach(async () => {
    temporary = await mkdtemp(join(scratch, 't-'));
  });
  afterEach(async () => {
    if (demo && demo.exitCode === null && demo.signalCode === null) {
      demo.kill('SIGTERM');
      await once(demo, 'close');
    }
  });
  after(() => rm(scratch, { recursive: true, force: true }));

  /** Starts the demo on a folder; resolves with its exit status. */
  function start(folder: string): Promise<number | null> {
    output = '';
    const child = spawn(process.execPath, [program, '--folder', join(scratch, folder)], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    endAtExit(child);
    demo = child;
    const hear = (text: Buffer): void => {
      output += String(text);
      child.emit('output');
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    return once(child, 'close').then(([status]) => status as number | null);
  }

  async function hears(text: RegExp): Promise<void> {
    while (!text.test(output) && demo) await Promise.race([once(demo, 'output'), once(demo, 'close')]);
  }

  it('shows every primitive at work, and proves what it shows', async () => {
    const status = await start('files');
    expect(status, output).to.equal(0);
    for (const line of [
      /crash +kill -9 \d+: ben dies while it holds \S+; nobody tells Muster/,
      /lease +ben's claim has expired/,
      /budget +used up: \S+ is refused with INSUFFICIENT_BUDGET/,
      /quota +"the disk is busy": an agent starts a cooldown/,
      /barrier +all 6 have arrived: epoch 2 is released/,
      /group +decided at that moment, SATISFIED/,
      /PASS {2}files +234 files, 26403 bytes through Muster; 234 files, 26403 bytes/,
      /all 8 checks hold, after \d:\d\d\n$/,
    ])
      expect(output).to.match(line);
    expect(output).to.not.include('FAIL').and.to.not.include('\u001b');
    expect(await readdir(temporary)).to.deep.equal([]);
  });

  it('cleans up when interrupted', async () => {
    const ended = start('files');
    await hears(/agents +ada/);
    demo?.kill('SIGINT');
    expect(await ended, output).to.equal(130);
    expect(await readdir(temporary)).to.deep.equal([]);
    const url = /listening on (\S+)/.exec(output)?.[1] ?? '';
    expect(await fetch(`${url}/healthz`).catch(() => 'gone')).to.equal('gone');
  });

  it('reports in one line why it cannot start', async () => {
    expect(await start('t-none')).to.equal(1);
    expect(output).to.match(/^no such folder: .*t-none\n$/);
    await mkdir(join(scratch, 'few'), { recursive: true });
    expect(await start('few')).to.equal(1);
    expect(output).to.match(/^.*few holds 0 entries; the demo needs at least 12\n$/);
  });
});
