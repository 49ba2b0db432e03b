import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { calls } from '../../../src/clients/typescript/generated/calls.ts';
import given from './answers.json' with { type: 'json' };

/** An answer that is not Muster's. */
interface StrangeAnswer {
  readonly status?: number;
  readonly type?: string;
  readonly body?: string;
  readonly hasId?: boolean;
  readonly location?: string;
  readonly retryAfter?: string;
  readonly real?: string;
}

export const strangeAnswers: Readonly<Record<string, StrangeAnswer>> = given.answers;
const answers: Readonly<Record<string, StrangeAnswer>> = { ...given.answers, ...given.own };

/**
 * What happens to a call, alone or in a batch: its request is cut, its answer is lost, there is none, it takes longer, it is
 * kept until it is let go, the server does not hold it, or its answer is one of answers.json.
 */
export interface Fault {
  readonly call: string;
  readonly is: string;
  /** Default 1; with `over`, every time. */
  readonly times?: number;
  /** Only in requests with a longer body. */
  readonly over?: number;
}

export interface FaultyProxy {
  readonly url: string;
  /** The names of the calls that it has received, in order. */
  readonly calls: string[];
  isAway: boolean;
  /** Lets kept calls go on to the server. */
  letGo(): void;
  close(): void;
}

const slowMs = 900;
const patterns = Object.entries(calls).map(([name, [method, path]]) => ({
  name,
  method,
  path: new RegExp(`^/v1${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** The name of a call; those of its calls if it is a batch. */
function namesOf({ method, url = '' }: IncomingMessage, body: string): readonly string[] {
  const { pathname } = new URL(url, 'http://x');
  const name = patterns.find((one) => one.method === method && one.path.test(pathname))?.name ?? pathname;
  if (name !== 'batch') return [name];
  return (JSON.parse(body).calls as readonly { readonly call: string }[]).map(({ call }) => call);
}

/** Answers instead of the service. Redirects lead to the proxy itself. */
function answerStrangely(one: StrangeAnswer, from: IncomingMessage, to: ServerResponse): void {
  const { status = 200, type, body = '', hasId, location, retryAfter } = one;
  const headers: OutgoingHttpHeaders = {
    ...(type !== undefined && { 'Content-Type': type }),
    ...(hasId && { 'X-Request-Id': from.headers['x-request-id'] }),
    ...(location !== undefined && { Location: `http://${from.headers.host}${location}` }),
    ...(retryAfter !== undefined && { 'Retry-After': retryAfter }),
  };
  to.writeHead(status, headers).end(status === 204 ? undefined : body);
}

/** Passes the answer of the service on, changed. */
async function changeAnswer(real: string, answer: IncomingMessage, to: ServerResponse): Promise<void> {
  let body = '';
  for await (const piece of answer.setEncoding('utf8')) body += piece;
  const { 'x-request-id': id, 'content-length': _, ...rest } = answer.headers;
  const headers: OutgoingHttpHeaders = { ...rest, 'X-Request-Id': real.endsWith('another id') ? randomUUID() : id };
  if (real === 'no id') delete headers['X-Request-Id'];
  if (real === 'half') body = body.slice(0, body.length / 2) || '{';
  const isRefusal = real.startsWith('refusal');
  if (isRefusal) body = '{"error":{"code":"VALIDATION_FAILED","message":"private","requestId":"x"}}';
  const status = answer.statusCode === 204 ? 200 : answer.statusCode;
  to.writeHead(isRefusal ? 400 : (status ?? 200), headers).end(body);
}

/** A proxy in front of a server, with faults in some of its calls. */
export async function faultyProxy(target: string, faults: readonly Fault[] = []): Promise<FaultyProxy> {
  const left = faults.map(({ over = 0, times = over > 0 ? Number.POSITIVE_INFINITY : 1, ...fault }) => ({
    ...fault,
    over,
    times,
  }));
  let letGo = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });

  async function pass(from: IncomingMessage, to: ServerResponse): Promise<void> {
    let body = '';
    for await (const piece of from.setEncoding('utf8')) body += piece;
    const names = namesOf(from, body);
    proxy.calls.push(...names);
    const fault = left.find(({ call, times, over }) => times > 0 && body.length >= over && names.includes(call));
    if (fault) fault.times--;
    if (proxy.isAway || fault?.is === 'cut') return void from.socket.destroy();
    if (fault?.is === 'hanging') return;
    if (fault?.is === 'slow') await sleep(slowMs);
    if (fault?.is === 'kept') await released;
    const strange = fault && answers[fault.is];
    if (strange && strange.real === undefined) return answerStrangely(strange, from, to);
    const { hostname, port } = new URL(target);
    const { method, headers } = from;
    const path = fault?.is === 'early' ? from.url?.replace(/waitSeconds=\d+/, 'waitSeconds=0') : from.url;
    const sent = request({ hostname, port, method, path, headers }, (answer) => {
      if (fault?.is === 'lost') return void from.socket.destroy();
      if (strange?.real !== undefined) return void changeAnswer(strange.real, answer, to);
      to.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(to).on('error', () => undefined);
      return undefined;
    });
    sent.on('error', () => from.socket.destroy());
    to.on('close', () => sent.destroy());
    sent.end(body);
  }

  const server = createServer((from, to) => void pass(from, to).catch(() => from.socket.destroy()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    isAway: false,
    letGo,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return proxy;
}
