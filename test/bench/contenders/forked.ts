import type { JobResult, Plan, Step } from '../driver.ts';
import { ForkedServer } from '../servers/fork.ts';
import { Contender, PAYLOAD, type Work } from './contender.ts';

export const BODY = JSON.stringify({ scopeId: '0197f000-0000-7000-8000-000000000001', payload: PAYLOAD });
/** As long as a real one, so that every contender reads the same headers. */
const AUTHORIZATION = `Bearer mk_bench_${'x'.repeat(43)}`;
const step = (name: string, path: string): Step => ({ name, path, body: BODY, keyed: true });
const POST: Plan = [step('send', '/')];

/** The same POST for each of these steps, each to a path of its own. */
export const postTo = (...steps: string[]): Plan => steps.map((name) => step(name, `/${name}`));

/** A contender whose server is a file of the benchmark itself. */
export abstract class Forked extends Contender {
  protected abstract readonly file: string;
  protected readonly env: Record<string, string> = {};
  #server: ForkedServer | undefined;

  protected get server(): ForkedServer {
    if (!this.#server) throw new Error(`${this.name} is not started`);
    return this.#server;
  }

  protected async startServer(redisSocket: string): Promise<void> {
    this.#server = await ForkedServer.start(this.file, { ...this.env, BENCH_REDIS_SOCKET: redisSocket });
  }

  protected stopServer(): void {
    this.#server?.stop();
  }

  protected pid(): number {
    return this.server.pid;
  }

  protected async post(seconds: number, plan = POST): Promise<Work & { http: JobResult }> {
    const { driver, connections } = this.settings;
    const headers = { authorization: AUTHORIZATION };
    const http = await driver.run({ url: this.server.url, plans: [plan], headers, connections, seconds });
    return { count: http.laps, seconds: http.seconds, http };
  }
}
