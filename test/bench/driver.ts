import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What the driver sends: one message's path and body, and for Muster the calls that take it out again. */
export interface Target {
  sendPath: string;
  sendBody: string;
  recvPath?: string;
  recvBody?: string;
  /** `${messagesPath}/<id>/complete` */
  messagesPath?: string;
}

/** `send` posts new messages; `drain` is recv then complete on one connection; `through` is all three in turn. */
export type Plan = 'send' | 'drain' | 'through';
export type Step = 'send' | 'recv' | 'complete';

export interface Job {
  url: string;
  plan: Plan;
  /** Dealt to the connections in turn. */
  targets: Target[];
  headers: Record<string, string>;
  connections: number;
  /** One of the two: how long, or how many requests. */
  seconds?: number;
  amount?: number;
}

export interface StepResult {
  count: number;
  p50Micros: number;
  p99Micros: number;
}

export interface JobResult {
  requests: number;
  /** Messages that went through the whole plan: the count of its last step's successes. */
  messages: number;
  seconds: number;
  steps: Partial<Record<Step, StepResult>>;
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
