import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * One request of a plan. In path and body `<name>` stands for what an earlier step kept under that name, `<key>` for text
 * that no other request carries. Where something was not kept, the plan starts over instead.
 */
export interface Step {
  name: string;
  path: string;
  body: string;
  /** Whether every request carries an Idempotency-Key of its own. */
  keyed: boolean;
  /** What later steps need of the answer: the name they know it by → the member of the answer. */
  keep?: Record<string, string>;
  /** The same of an answer to many: name → what is made of each record in the answer, with commas between. */
  keepEach?: Record<string, string>;
  /** Each result of the answer counts, in place of the request. */
  isBatch?: true;
}

/** What one connection does over and over. */
export type Plan = readonly Step[];

export interface Job {
  url: string;
  /** Dealt to the connections in turn; all of the same steps. */
  plans: readonly Plan[];
  headers: Record<string, string>;
  connections: number;
  /** One of the two: how long, or how many requests. */
  seconds?: number;
  amount?: number;
  /** Offered over all connections; as many as can be, where it is not given. */
  requestsPerSecond?: number;
}

export interface StepResult {
  /** Successes: 2xx with a body; of a batch, its results. */
  count: number;
  p50Micros: number;
  p99Micros: number;
}

export interface JobResult {
  /** All that were answered, whatever the answer. */
  requests: number;
  /** How often a whole plan was gone through, for each result of a batch: the count of its last step. */
  laps: number;
  seconds: number;
  /** By the step's name, in the order of the plan. */
  steps: Record<string, StepResult>;
  /** Answers outside 2xx, by status, and connection errors and timeouts under 0. */
  refused: Record<string, number>;
  /** The driver's own processor time per request: near 1e6 / rps it, not the server, is the limit. */
  driverMicrosPerRequest: number;
}

type Answer = { ok: true; result: JobResult } | { ok: false; message: string };

/** autocannon in a process of its own, so that its work never sits on a server's event loop. */
export class Driver {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(fileURLToPath(new URL('./driver-process.ts', import.meta.url)), [], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
  }

  run(job: Job): Promise<JobResult> {
    return new Promise((resolve, reject) => {
      const exited = () => reject(new Error('the driver process ended'));
      this.#child.once('exit', exited);
      this.#child.once('message', (answer: Answer) => {
        this.#child.off('exit', exited);
        if (answer.ok) resolve(answer.result);
        else reject(new Error(answer.message));
      });
      this.#child.send(job);
    });
  }

  stop(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}
