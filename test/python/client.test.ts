import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { openapi } from '../../src/engine/openapi/openapi.ts';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import type { Program } from '../../src/external-programs/find.ts';
import { product } from '../../src/primitives/primitives.ts';
import type { MusterService } from '../../src/service.ts';
import { pythonTexts } from '../../src/tools/generator/python/modules.ts';
import { S3 } from '../support/bucket.ts';
import { Provider } from '../support/provider.ts';
import { findPython } from '../support/python.ts';
import { delivering } from '../support/webhooks.ts';
import { World } from '../support/world.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = join(root, 'src/clients/python');

describe('the Python client', () => {
  // Python may have to be downloaded first.
  let python: Program;
  let installed = '';
  let scratch = '';
  before(async () => {
    python = await findPython();
    scratch = await mkdtemp(join(tmpdir(), 'muster-python-'));
    installed = join(scratch, 'site');
  });
  const running = new Set<ChildProcess>();
  after(async () => {
    // If only some tests were chosen, nobody has waited for the others.
    for (const child of running) {
      child.kill('SIGKILL');
      // What it started may hold its output open.
      for (const stream of [child.stdout, child.stderr]) stream?.destroy();
    }
    await rm(scratch, { recursive: true, force: true });
  });

  /** Runs Python; throws what it printed if it fails. */
  async function run(args: readonly string[], settings: Record<string, string> = {}): Promise<string> {
    const env = { ...python.env, PYTHONDONTWRITEBYTECODE: '1', ...settings };
    const child: ChildProcess = spawn(python.command, args, { cwd: scratch, env, stdio: ['ignore', 'pipe', 'pipe'] });
    endAtExit(child);
    running.add(child);
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    const [status] = await once(child, 'close');
    running.delete(child);
    if (status !== 0) throw new Error(said);
    return said;
  }

  it('is what the routes say: as `npm run generate` writes it', async () => {
    for (const [name, text] of Object.entries(pythonTexts(openapi(product))))
      expect(await readFile(join(folder, `muster/${name}.py`), 'utf8'), `${name}.py: npm run generate`).to.equal(text);
  });

  let installing: Promise<string> | undefined;
  /** Installs the client, once. */
  function install(): Promise<string> {
    // pip builds in a copy of no folder: nothing is left in the checkout.
    const settings = { TMPDIR: scratch };
    const words = ['install', '--quiet', '--no-index', '--target', installed, folder];
    installing ??= run(['-m', 'pip', ...words], settings);
    return installing;
  }

  it('is installed by pip without an index, with its types', async () => {
    await install();
    const files = await readdir(join(installed, 'muster'));
    expect(files).to.include.members(['__init__.py', '_calls.py', 'py.typed']);
  });

  const parts = [
    'calls_test',
    'rate_test',
    'journal_test',
    'worker_test',
    'spending_test',
    'notes_test',
    'spend_test',
    'outcomes_test',
    'leases_test.Leases',
    'leases_test.Killed',
    'async_test',
    'pool_test',
    'giving_back_test',
    'asking_test',
    'suspending_test',
    'fork_test',
    'hostile_test',
    'atomic_test',
    'tracing_test.Without',
    'testing_test',
    'codecs_test.Codecs',
  ];
  describe('against a server', () => {
    let service: MusterService;
    let store: S3;
    let provider: Provider;
    let runs: Map<string, Promise<string>>;
    before(async () => {
      await install();
      service = await delivering();
      store = await S3.start();
      provider = await Provider.start({ tokensPerWindow: 1_000_000, windowMs: 3_600_000 });
      const worlds = await Promise.all(parts.map(() => World.create({ on: service })));
      // They wait more than they work: all at once. Starting so many processes holds up everything else for seconds, such
      // as the answers of the store.
      runs = new Map(parts.map((part, index) => [part, runPart(part, worlds[index] as World)]));
      for (const one of runs.values()) one.catch(() => undefined);
    });
    after(async () => {
      store.stop();
      await provider.close();
      return service.stop();
    });

    function runPart(part: string, world: World, ...libraries: readonly string[]): Promise<string> {
      return run(['-m', 'unittest', '-v', part], {
        PYTHONPATH: [installed, join(root, 'test/python'), ...libraries].join(':'),
        MUSTER_URL: world.url,
        MUSTER_KEY: world.apiKey,
        MUSTER_SPACE: world.spaceId,
        MUSTER_SERVER: join(root, 'dist/cli/bin.js'),
        MUSTER_TEST_BUCKET: store.bucket.url,
        LONG: process.env['LONG'] ?? '',
        MUSTER_TEST_PROVIDER: provider.url,
      });
    }

    for (const part of parts)
      it(`passes ${part}`, async () => {
        expect(await runs.get(part)).to.match(/^Ran [1-9]\d* tests? in .*\n\nOK\n/m);
      });

    /** Runs a part with a library: the one that Python has, or what pip installs into a folder. */
    async function passesWith(part: string, name: string, wanted: string): Promise<string> {
      const found = await run(['-c', `import ${name}`]).then(
        () => true,
        () => false,
      );
      const place = join(scratch, name);
      if (!found) await run(['-m', 'pip', 'install', '--quiet', '--retries', '1', '--target', place, wanted]);
      return runPart(part, await World.create({ on: service }), place);
    }

    it('passes codecs_test.Encrypted, where cryptography is installed', async () => {
      expect(await passesWith('codecs_test.Encrypted', 'cryptography', 'cryptography')).to.match(
        /^Ran 9 tests in .*\n\nOK\n/m,
      );
    });

    it('passes tracing_test.Spans, where OpenTelemetry is installed', async () => {
      expect(await passesWith('tracing_test.Spans', 'opentelemetry.trace', 'opentelemetry-api~=1.45')).to.match(
        /^Ran 3 tests in .*\n\nOK\n/m,
      );
    });
  });
});
