import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { bundled } from '../../support/bundle.ts';
import { Measured } from './measured.ts';
import type { Answer, FromThread, Phase, Request, ThreadData } from './protocol.ts';

/** The result of running a load script. */
interface LoadRun {
  readonly stdout: string;
  /** Whether all thresholds were met; otherwise k6 exits with status 99. */
  readonly isPass: boolean;
  /** The lines that the script wrote to the console, and the errors that ended iterations. */
  readonly said: readonly string[];
}

interface Options {
  readonly vus?: number;
  readonly duration?: string;
  readonly scenarios?: Readonly<Record<string, { exec: string; vus: number; duration: string }>>;
  readonly thresholds: Readonly<Record<string, readonly string[]>>;
}

const folder = fileURLToPath(new URL('.', import.meta.url));

/** The program of a script's threads. */
function programOf(script: URL): Promise<string> {
  const contents = `import { serve } from './thread.ts'; serve(() => import(${JSON.stringify(fileURLToPath(script))}));`;
  const names = ['k6/crypto', 'k6/execution', 'k6/http', 'k6/metrics', 'k6'];
  const alias = Object.fromEntries(names.map((name) => [name, `${folder}modules/${name.replace('k6/', '')}.ts`]));
  return bundled(contents, folder, { alias, target: `node${process.versions.node}` });
}

/**
 * Runs a k6 script without k6, which is in no registry that the project uses: a thread per VU, synchronous requests,
 * and the parts of k6's modules that the scripts use. The scripts' types keep them from using more
 * (test/load/tsconfig.json).
 */
export async function runLoad(script: URL, env: Readonly<Record<string, string>>): Promise<LoadRun> {
  const said: string[] = [];
  let measured = new Measured({});
  const threads: Thread[] = [];
  const program = await programOf(script);
  const thread = (): Thread => {
    const created = new Thread(program, env, (message) => {
      if ('sample' in message) measured.add(message.sample);
      else if ('said' in message) said.push(message.said);
    });
    threads.push(created);
    return created;
  };
  try {
    const control = thread();
    const options = (await control.perform({ name: 'options' })) as Options;
    measured = new Measured(options.thresholds);
    const data = await control.perform({ name: 'setup' });
    const { vus = 1, duration = '1s' } = options;
    const scenarios = options.scenarios ?? { default: { exec: 'default', vus, duration } };
    const work = Object.values(scenarios).flatMap(({ exec, vus, duration }) => {
      const durationMs = 1000 * Number.parseFloat(duration);
      return Array.from({ length: vus }, () => thread().perform({ name: 'iterate', exec, data, durationMs }));
    });
    await Promise.all(work);
    await control.perform({ name: 'teardown', data });
    const metrics = measured.metrics();
    const { stdout } = (await control.perform({ name: 'handleSummary', data: { metrics } })) as { stdout: string };
    const isPass = Object.values(metrics).every(({ thresholds = {} }) =>
      Object.values(thresholds).every(({ ok }) => ok),
    );
    return { stdout, isPass, said };
  } catch (error) {
    // A failure in setup or teardown ends the run, as in k6.
    return { stdout: '', isPass: false, said: [...said, String(error)] };
  } finally {
    await Promise.all(threads.map((one) => one.end()));
  }
}

class Thread {
  readonly #worker: Worker;
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  readonly #hear: (message: FromThread) => void;
  #done: (value: unknown) => void = () => undefined;
  #failed: (error: Error) => void = () => undefined;

  constructor(program: string, env: Readonly<Record<string, string>>, hear: (message: FromThread) => void) {
    this.#hear = hear;
    const workerData: ThreadData = { env, signal: this.#signal };
    this.#worker = new Worker(program, { eval: true, workerData, execArgv: [] });
    this.#worker.on('message', (message: FromThread) => this.#take(message));
    this.#worker.on('error', (error) => this.#failed(error));
  }

  #take(message: FromThread): void {
    if ('done' in message) this.#done(message.done);
    else if ('failed' in message) this.#failed(new Error(message.failed));
    else if ('request' in message) void this.#answer(message.request);
    else this.#hear(message);
  }

  async #answer({ method, url, body, headers }: Request): Promise<void> {
    const begun = performance.now();
    const answer: Answer = await fetch(url, { method, body, headers }).then(
      async (response) => ({
        status: response.status,
        body: await response.text(),
        headers: Object.fromEntries([...response.headers].map(([name, value]) => [canonical(name), value])),
        durationMs: performance.now() - begun,
      }),
      // k6 reports a missing answer like this.
      () => ({ status: 0, body: '', headers: {}, durationMs: performance.now() - begun }),
    );
    this.#worker.postMessage(answer);
    Atomics.store(this.#signal, 0, 1);
    Atomics.notify(this.#signal, 0);
  }

  perform(phase: Phase): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#done = resolve;
      this.#failed = reject;
      this.#worker.postMessage(phase);
    });
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** `retry-after` as Go, and so k6, spells it. */
const canonical = (name: string): string => name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
