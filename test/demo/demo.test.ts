import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import { until } from '../support/processes.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

describe('npm run demo', () => {
  let temporary = '';
  let demo: ChildProcess | undefined;
  let output = '';

  beforeEach(async () => {
    temporary = await mkdtemp(join(tmpdir(), 'muster-demo-test-'));
  });
  afterEach(async () => {
    if (demo && demo.exitCode === null && demo.signalCode === null) {
      demo.kill('SIGTERM');
      await once(demo, 'close');
    }
    await rm(temporary, { recursive: true, force: true });
  });

  /** Starts the demo; resolves with its exit status. */
  function start(...words: string[]): Promise<number | null> {
    output = '';
    const child = spawn(process.execPath, ['--import', 'tsx', 'src/tools/demo/main.ts', ...words], {
      cwd: root,
      // The cache of tsx would be in the temporary folder.
      env: { ...process.env, TMPDIR: temporary, TSX_DISABLE_CACHE: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    endAtExit(child);
    demo = child;
    const hear = (text: Buffer): void => {
      output += String(text);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    return once(child, 'close').then(([status]) => status as number | null);
  }

  it('runs the programs of docs/examples, kills one of them, and finds nothing lost or left over', async () => {
    const status = await start();
    expect(status, output).to.equal(0);
    const files = (await readdir(join(root, 'docs/examples'))).filter((file) => file.endsWith('.ts'));
    const run = [...output.matchAll(/ example {2}(\S+)$/gm)].map(([, file]) => file);
    expect(new Set(run)).to.deep.equal(new Set(files.filter((file) => file !== 'desk.ts')));
    for (const line of [
      /example {2}steps\.ts\n.*A researcher dies after its first step/,
      /crash +kill -9 \d+: it dies with messages in its hands; nobody tells Muster/,
      /PASS {2}programs +12 have done their work\n/,
      /PASS {2}crash +the message of the killed process is \w+ at attempt [2-9]: nothing was lost\n/,
      /all 4 checks hold, after \d:\d\d\n$/,
    ])
      expect(output).to.match(line);
    expect(output).to.not.include('FAIL').and.to.not.include('\u001b');
    expect(await readdir(temporary)).to.deep.equal([]);
  });

  it('cleans up when interrupted', async () => {
    const ended = start();
    await until(() => /example +fan-out/.test(output));
    demo?.kill('SIGINT');
    expect(await ended, output).to.equal(130);
    expect(await readdir(temporary)).to.deep.equal([]);
    const url = /listening on (\S+?);/.exec(output)?.[1] ?? '';
    expect(await fetch(`${url}/healthz`).catch(() => 'gone')).to.equal('gone');
  });

  it('says in one line that it takes no arguments', async () => {
    expect(await start('--folder', 'x')).to.equal(1);
    expect(output).to.equal('the demo takes no arguments: npm run demo\n');
  });
});
