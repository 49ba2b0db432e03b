import { Agent, request } from 'node:http';

const agent = new Agent({ keepAlive: true });

export interface Exchanged {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * Sends a request as `fetch` would, on a kept-alive connection. It costs half as much, which the whole suite notices.
 */
export function exchange(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const all: Record<string, string | number> = { 'User-Agent': 'node', ...headers };
    if (body !== undefined) {
      all['Content-Length'] = Buffer.byteLength(body);
      if (!Object.keys(headers).some((name) => name.toLowerCase() === 'content-type'))
        all['Content-Type'] = 'text/plain;charset=UTF-8';
    } else if (method !== 'GET' && method !== 'HEAD') all['Content-Length'] = 0;
    const sent = request(url, { method, agent, headers: all }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
      });
      response.once('error', reject);
      response.once('end', () => {
        const received = new Headers();
        for (let i = 0; i < response.rawHeaders.length; i += 2)
          received.append(response.rawHeaders[i] ?? '', response.rawHeaders[i + 1] ?? '');
        resolve({ status: response.statusCode ?? 0, headers: received, text });
      });
    });
    sent.once('error', (error: NodeJS.ErrnoException) => {
      // The server had closed an idle connection, so it has not read the request; a busy process notices that only now.
      const isUnread = sent.reusedSocket && error.code === 'ECONNRESET';
      if (isUnread) exchange(method, url, headers, body).then(resolve, reject);
      else reject(error);
    });
    sent.end(body);
  });
}
