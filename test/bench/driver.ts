import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * One request of a plan. In path and body, `<name>` stands for the value that an earlier step kept under that name, and
 * `<key>` for a text unique to the request. If a value was not kept, the plan starts over instead.
 */
export interface Step {
  name: string;
  path: string;
  body: string;
  /** Whether every request carries an Idempotency-Key of its own. */
  keyed: boolean;
  /** The values that later steps need: name → member of the answer. */
  keep?: Record<string, string>;
  /** The same for an answer with many records: name → a template, filled in for each record and joined by commas. */
  keepEach?: Record<string, string>;
  /** Counts each result in the answer instead of the request. */
  isBatch?: true;
}

/** The steps that one connection repeats. */
export type Plan = readonly Step[];

export interface Job {
  url: string;
  /** Assigned to the connections in turn. All have the same steps. */
  plans: readonly Plan[];
  headers: Record<string, string>;
  connections: number;
  /** Either the duration or the number of requests. */
  seconds?: number;
  amount?: number;
  /** Offered over all connections together; without it, as many as possible. */
  requestsPerSecond?: number;
}

export interface StepResult {
  /** Successes: answers 2xx with a body, or for a batch its successful results. */
  count: number;
  p50Micros: number;
  p99Micros: number;
}

export interface JobResult {
  /** All answered requests, whatever the status. */
  requests: number;
  /** How often a plan was completed: the count of its last step, which for batches counts results. */
  laps: number;
  seconds: number;
  /** By the step's name, in the order of the plan. */
  steps: Record<string, StepResult>;
  /** Answers outside 2xx, by status, and connection errors and timeouts under 0. */
  refused: Record<string, number>;
  /** The driver's own processor time per request. If it is near 1e6 / rps, the driver is the limit, not the server. */
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
