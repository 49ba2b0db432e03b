// Installs each file of a release into an empty folder and works with it from there, as its user would.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findRedisServer } from '../../embedded/server-binary.ts';
import { endAtExit } from '../../external-programs/at-exit.ts';
import { differing, followDockerfile } from './image.ts';
import { folder, type ReleaseDirs, run } from './release-dirs.ts';

/** MUSTER_URL, MUSTER_SPACE and MUSTER_KEY, as the first start prints them. */
export type Exports = Readonly<Record<string, string>>;

/** Installs a package for npm into an empty folder. */
function installed(scratch: string, name: string, file: string): string {
  const home = folder(scratch, 'installed', name);
  writeFileSync(join(home, 'package.json'), '{ "type": "module" }');
  run(home, 'npm', ['install', '--no-audit', '--no-fund', '--silent', file]);
  return home;
}

/** Starts `muster serve` on a store of its own, for as long as `use` takes. */
async function serving(command: string, home: string, use: (exports: Exports) => void | Promise<void>): Promise<void> {
  const { command: redis, env } = await findRedisServer({ log: () => undefined });
  const settings = {
    REDIS_SERVER: redis,
    REDIS_URL: '',
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '',
    LOG_LEVEL: 'warn',
  };
  const child = spawn(command, ['serve'], {
    cwd: home,
    env: { ...env, ...settings, DATA_DIR: join(home, 'data') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endAtExit(child);
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const [ended, deadline] = [once(child, 'exit'), AbortSignal.timeout(60_000)];
  while (!/^listening on /m.test(said) || !said.includes('export MUSTER_KEY=')) {
    assert(child.exitCode === null && !deadline.aborted, `${command} serve does not listen: ${said}`);
    await sleep(50);
  }
  try {
    await use(
      Object.fromEntries([...said.matchAll(/^export (MUSTER_\w+)=(\S+)/gm)].map(([, name, value]) => [name, value])),
    );
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
  assert(child.exitCode === 0, `${command} serve ended with ${child.exitCode ?? child.signalCode}`);
}

/** Sends and receives with plain HTTP. */
async function sendsAndReceives(version: string, { MUSTER_URL, MUSTER_SPACE, MUSTER_KEY }: Exports): Promise<void> {
  const described = (await (await fetch(`${MUSTER_URL}/openapi.json`)).json()) as { info: { version: string } };
  assert(described.info.version === version, `/openapi.json has version ${described.info.version}, not ${version}`);
  const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${MUSTER_URL}/v1/spaces/${MUSTER_SPACE}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${MUSTER_KEY}`,
        'content-type': 'application/json',
        'idempotency-key': crypto.randomUUID(),
      },
      body: JSON.stringify(body),
    });
    assert(answer.ok, `POST ${path} is ${answer.status}: ${answer.ok || (await answer.text())}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  const scopeId = crypto.randomUUID();
  const { id } = await post('/mailboxes', { name: 'trial' });
  const sent = await post(`/mailboxes/${id}/messages`, { scopeId, payload: { text: 'a' } });
  const received = await post(`/mailboxes/${id}/recv`, { scopeId, holder: 'trial', holderSession: 'trial' });
  assert(received['id'] === sent['id'], `sent ${sent['id']}, received ${received['id']}`);
}

/** Tries the server's package: it prints its version and serves. `use` then works with that server. */
export async function tryServer(
  { scratch }: ReleaseDirs,
  file: string,
  version: string,
  use: (exports: Exports) => void | Promise<void>,
): Promise<void> {
  const home = installed(scratch, 'server', file);
  const command = join(home, 'node_modules/.bin/muster');
  const printed = run(home, command, ['--version']).trim();
  assert(printed === version, `muster --version prints ${printed}, not ${version}`);
  await serving(command, home, async (exports) => {
    await sendsAndReceives(version, exports);
    await use(exports);
  });
}

/** Examples in the docs, each a worker with its messages, and the line that it prints. */
const examples = {
  'worker-pool.ts': '19 texts have 190 words\n',
  'worker-pool.py': 'words: 54\n',
};

function prints(name: keyof typeof examples, printed: string): void {
  assert(printed.includes(examples[name]), `${name} printed ${JSON.stringify(printed)}, not ${examples[name].trim()}`);
}

/** Tries the client's package: its types compile in strict mode, and a module that imports it sends and receives. */
export function tryClient({ root, scratch }: ReleaseDirs, file: string, exports: Exports): void {
  const home = installed(scratch, 'client', file);
  cpSync(join(root, 'docs/examples/worker-pool.ts'), join(home, 'worker-pool.ts'));
  writeFileSync(
    join(home, 'testing.ts'),
    "import { TestTask, testServer } from 'muster-client/testing';\nvoid TestTask, testServer;\n",
  );
  const compilerOptions = {
    ...{ target: 'es2023', module: 'nodenext', strict: true, noUncheckedIndexedAccess: true, skipLibCheck: false },
    ...{ types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
  };
  writeFileSync(
    join(home, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['worker-pool.ts', 'testing.ts'] }),
  );
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
  run(home, process.execPath, [compiler, '-p', home]);
  run(home, process.execPath, ['testing.js']);
  prints('worker-pool.ts', run(home, process.execPath, ['worker-pool.js'], exports));
}

/**
 * Tries a wheel or an sdist: pip installs it into an empty environment without an index, and it sends and receives.
 */
export function tryPython({ root, scratch, python }: ReleaseDirs, name: string, file: string, exports: Exports): void {
  const home = folder(scratch, 'installed', name);
  run(home, python.command, ['-m', 'venv', 'venv'], python.env);
  const own = join(home, 'venv/bin/python');
  run(home, own, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-index', file]);
  run(home, own, ['-c', 'import muster.testing; muster.testing.TestServer']);
  prints('worker-pool.py', run(home, own, [join(root, 'docs/examples/worker-pool.py')], exports));
}

/** Tries the image's files: the Dockerfile builds the same program from them as the checkout's, and it serves. */
export async function tryImage({ root, scratch }: ReleaseDirs, file: string, version: string): Promise<void> {
  const context = folder(scratch, 'context');
  run(context, 'tar', ['xzf', file, '--strip-components=1']);
  const home = followDockerfile(context, scratch);
  const others = differing(join(home, 'dist'), join(root, 'dist'));
  assert(others.length === 0, `the image's dist/ differs from the server's: ${others.slice(0, 5).join(', ')}`);
  const command = join(home, 'dist/cli/bin.js');
  chmodSync(command, 0o755);
  await serving(command, home, (exports) => sendsAndReceives(version, exports));
}
