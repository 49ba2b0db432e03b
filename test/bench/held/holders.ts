import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { Tenant } from '../idle/tenants.ts';

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const waitSeconds = 30;

/** Resolves with the status and the text of an answer. */
function ask(url: string, tenant: Tenant, path: string, body?: object): Promise<readonly [number, string]> {
  const headers = { ...tenant.headers, ...(body && { 'idempotency-key': randomUUID() }) };
  return new Promise((resolve, reject) => {
    const outgoing = request(tenant.urlOf(url, path), { agent, headers, method: body ? 'POST' : 'GET' }, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      incoming.on('error', reject).on('end', () => resolve([incoming.statusCode ?? 0, text]));
    });
    outgoing.on('error', reject).end(body && JSON.stringify(body));
  });
}

/** A space with workers, waits and watches that are held for as long as this process lives. */
export class Space {
  /**
   * When each message was received, seen to have ended, and announced to each watch, in milliseconds of this process's
   * clock.
   */
  readonly received = new Map<string, number>();
  readonly ended = new Map<string, number>();
  readonly watched = new Map<string, number[]>();
  /** The messages that waits are held for. */
  readonly awaited: string[] = [];
  readonly #tenant: Tenant;
  readonly #url: string;
  readonly #mailboxes: { readonly worked: string; readonly idle: string };

  private constructor(tenant: Tenant, url: string, worked: string, idle: string) {
    this.#tenant = tenant;
    this.#url = url;
    this.#mailboxes = { worked, idle };
  }

  static async create(tenant: Tenant, url: string): Promise<Space> {
    const [worked, idle] = await Promise.all(
      ['worked', 'idle'].map(async (name): Promise<string> => (await tenant.call(url, '/mailboxes', { name })).id),
    );
    return new Space(tenant, url, worked as string, idle as string);
  }

  /** Receives messages for ever, and keeps them. */
  async receive(): Promise<void> {
    const body = { scopeId: '*', holder: 'bench', holderSession: randomUUID(), leaseSeconds: 600, waitSeconds };
    for (;;) {
      const [status, text] = await ask(this.#url, this.#tenant, `/mailboxes/${this.#mailboxes.worked}/recv`, body);
      if (status === 200) this.received.set(JSON.parse(text).id, performance.now());
      else if (status !== 204) throw new Error(`recv answered ${status}: ${text}`);
    }
  }

  /** Sends a message and waits for its end. */
  async wait(): Promise<void> {
    const id = await this.send('idle');
    this.awaited.push(id);
    for (;;) {
      const [status, text] = await ask(this.#url, this.#tenant, `/messages/${id}?waitSeconds=${waitSeconds}`);
      if (status !== 200) throw new Error(`a wait was answered ${status}: ${text}`);
      if (JSON.parse(text).state !== 'READY') break;
    }
    this.ended.set(id, performance.now());
  }

  watch(): Promise<void> {
    return this.#tenant.watch(this.#url, (text) => {
      for (const [, json = ''] of text.matchAll(/^event: message\.sent\ndata: (.*)$/gm)) {
        const { aggregateId } = JSON.parse(json);
        this.watched.set(aggregateId, [...(this.watched.get(aggregateId) ?? []), performance.now()]);
      }
    });
  }

  async send(mailbox: 'worked' | 'idle'): Promise<string> {
    const body = { scopeId: randomUUID(), payload: 1 };
    return (await this.#tenant.call(this.#url, `/mailboxes/${this.#mailboxes[mailbox]}/messages`, body)).id;
  }

  async cancel(id: string): Promise<void> {
    await this.#tenant.call(this.#url, `/messages/${id}/cancel`, {});
  }
}
