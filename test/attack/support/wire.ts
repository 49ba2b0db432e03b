import { type Agent, request } from 'node:http';
import type { Reply } from '../../support/world.ts';

/** A request as sent: raw headers, which may be repeated, and a body of any bytes. */
export interface Request {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | undefined;
}

/** Sends the request as it is and waits for the whole answer. */
export function sendRaw(url: string, agent: Agent, { method, target, headers, body }: Request): Promise<Reply> {
  const { host, hostname, port } = new URL(url);
  const all = [['Host', host], ...headers, ...(body ? [['Content-Length', String(body.length)]] : [])].flat();
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, method, path: target, headers: all, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const pairs = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]);
        const parsed = text === '' ? undefined : JSON.parse(text);
        resolve({ status: response.statusCode ?? 0, headers: new Headers(pairs), text, body: parsed });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** The request as a bash line, for any bytes. */
export function curlLine(url: string, { method, target, headers, body }: Request): string {
  const quoted = (text: string): string =>
    /^[\x20-\x7e]*$/.test(text) && !text.includes("'") ? `'${text}'` : `$'${escaped(Buffer.from(text, 'latin1'))}'`;
  const given = headers.map(([name, value]) => ` -H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`);
  const data = body ? ` --data-binary $'${escaped(body)}'` : '';
  return `curl -sS -i --path-as-is -g -X ${method} ${quoted(url + target)}${given.join('')}${data}`;
}

function escaped(bytes: Buffer): string {
  return [...bytes]
    .map((byte) => {
      const printable = byte >= 32 && byte < 127 && byte !== 39 && byte !== 92;
      return printable ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
    })
    .join('');
}
