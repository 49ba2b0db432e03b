import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { Answer, FromThread, Phase, Request, Sample, ThreadData } from './protocol.ts';

/** One thread is a VU in k6's terms: it loads its own copy of the script, and blocks while it waits. */
const { env, signal } = workerData as ThreadData;
if (!parentPort) throw new Error('this is not a thread');
const port = parentPort;
const send = (message: FromThread): void => port.postMessage(message);

/** k6's requests are synchronous: the thread sleeps until the main thread has the answer. */
export function request(wanted: Request): Answer {
  send({ request: wanted });
  // If the answer is there before the wait, its notification would end the next wait too early.
  while (Atomics.load(signal, 0) === 0) Atomics.wait(signal, 0, 0);
  Atomics.store(signal, 0, 0);
  return receiveMessageOnPort(port)?.message as Answer;
}

export function measure(sample: Sample): void {
  send({ sample });
}

const nothing = new Int32Array(new SharedArrayBuffer(4));

export function sleep(seconds: number): void {
  Atomics.wait(nothing, 0, 0, seconds * 1000);
}

/** How often this VU has started the function that it repeats. */
export let iteration = 0;

type Script = Readonly<Record<string, unknown>>;

async function perform(loaded: Promise<Script>, phase: Phase): Promise<unknown> {
  const exported = await loaded;
  if (phase.name === 'options') return exported['options'];
  const run = exported[phase.name === 'iterate' ? phase.exec : phase.name] as (data: unknown) => unknown;
  // Through JSON, as k6 passes data from setup on.
  const data = JSON.parse(JSON.stringify(phase.data ?? null));
  if (phase.name !== 'iterate') return run(data);
  const untilMs = Date.now() + phase.durationMs;
  for (iteration = 0; iteration === 0 || Date.now() < untilMs; iteration++) {
    try {
      run(data);
    } catch (error) {
      send({ said: String(error) });
    }
    measure({ metric: 'iterations', kind: 'counter', value: 1, tags: {} });
  }
  return undefined;
}

/** Runs the phases that the main thread asks for. */
export function serve(load: () => Promise<Script>): void {
  Object.assign(globalThis, { __ENV: env });
  console.error = (text: unknown) => send({ said: String(text) });
  const loaded = load();
  port.on('message', (phase: Phase) => {
    perform(loaded, phase).then(
      (done) => send({ done }),
      (error) => send({ failed: `${phase.name}: ${error}` }),
    );
  });
}
