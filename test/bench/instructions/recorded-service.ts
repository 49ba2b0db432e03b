// The API of a checkout. The benchmark records the FCALL that it sends to Redis for a request.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import pino from 'pino';
import type { Request } from './calls.ts';
import { nextId } from './ids.ts';
import { type Tree, writeClock } from './tree.ts';

/** The arguments of an FCALL, from the function's name on. */
export type FunctionCall = readonly (string | Buffer | number)[];

interface Access {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export class RecordedService {
  readonly stop: () => Promise<void>;
  readonly #access: Access;
  /** undefined: calls go to the store. */
  #recorded: FunctionCall[] | undefined;
  #nextKey = 0;

  private constructor(store: Pick<Redis, 'sendCommand'>, access: Access, stop: () => Promise<void>) {
    this.#access = access;
    this.stop = stop;
    const send = store.sendCommand.bind(store);
    store.sendCommand = (command, stream) => {
      if (!this.#recorded || command.name !== 'fcall') return send(command, stream);
      this.#recorded.push(command.args as FunctionCall);
      command.reject(new Error('recorded'));
      return command.promise;
    };
  }

  /** Starts the API on an empty store. */
  static async start(tree: Tree, redisUrl: string): Promise<RecordedService> {
    const folder = await mkdtemp(join(tmpdir(), 'muster-clock-'));
    const undo = [() => rm(folder, { recursive: true })];
    const stop = async (): Promise<void> => {
      for (const one of undo.splice(0).reverse()) await one();
    };
    try {
      const clock = join(folder, 'clock.lua');
      await writeClock(tree, clock);
      const overrides = { 'lib/clock': clock };
      const log = pino({ level: 'silent' });
      const service = await tree.startService({ redisUrl, role: 'api', host: '127.0.0.1', port: 0, log, overrides });
      undo.push(() => service.stop());
      const lines = await tree.bootstrap(service, service.url ?? '');
      return new RecordedService(service.store, accessIn(lines.join('\n')), stop);
    } catch (error) {
      await stop();
      throw error;
    }
  }

  /** Makes a request; resolves with the body. */
  async post(request: Request): Promise<Record<string, string>> {
    const response = await this.#fetch(request);
    if (!response.ok) throw new Error(`${request.path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Record<string, string>;
  }

  /** Records the FCALL that the service makes for a request. It is not sent, and the request fails. */
  async record(request: Request): Promise<FunctionCall> {
    const recorded: FunctionCall[] = [];
    this.#recorded = recorded;
    const { status } = await this.#fetch(request);
    this.#recorded = undefined;
    const [call] = recorded;
    if (call === undefined || recorded.length > 1)
      throw new Error(`${request.path} made ${recorded.length} FCALLs, not one, and answered ${status}`);
    return call;
  }

  #fetch({ path, body }: Request): Promise<Response> {
    const headers = {
      ...this.#access.headers,
      'x-request-id': nextId(),
      'idempotency-key': `bench-${String(this.#nextKey++).padStart(6, '0')}`,
    };
    return fetch(this.#access.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  }
}

/** Reads the access from the lines printed for a shell. */
function accessIn(lines: string): Access {
  const value = (name: string): string => new RegExp(`^export ${name}=(.*)$`, 'm').exec(lines)?.[1] ?? '';
  return {
    url: `${value('MUSTER_URL')}/v1/spaces/${value('MUSTER_SPACE')}`,
    headers: { authorization: `Bearer ${value('MUSTER_KEY')}`, 'content-type': 'application/json' },
  };
}

/**
 * Combines calls of one function in one FCALL: the function's name, the number of keys (one) and the key, then the
 * arguments of each call in turn. As in the service, a first argument equal to the previous call's is sent empty.
 */
export function gather(calls: readonly FunctionCall[]): FunctionCall {
  const head = calls[0]?.slice(0, 3) ?? [];
  if (calls.some((call) => call.slice(0, 3).some((word, index) => String(word) !== String(head[index]))))
    throw new Error('only calls of one function for one organization share an FCALL');
  const args = calls.flatMap((call, index) => {
    const [first = '', ...others] = call.slice(3);
    return [index > 0 && first === calls[index - 1]?.[3] ? '' : first, ...others];
  });
  return [...head, ...args];
}
