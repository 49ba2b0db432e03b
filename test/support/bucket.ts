import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type Bucket, signed } from '../../docs/codecs/s3.ts';

/** A fake S3 with the operations that a codec needs. It accepts only signed requests. */
export class S3 {
  /** The stored objects by path. */
  readonly objects = new Map<string, Buffer>();
  /** Paths that lead to others. */
  readonly redirects = new Map<string, string>();
  /** The paths of all requests. */
  readonly asked: string[] = [];
  readonly bucket: Bucket;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/my-bucket`;
    this.bucket = { url, region: 'eu-central-1', accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'secretEXAMPLE' };
  }

  static async start(): Promise<S3> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const store = new S3(server);
    server.on('request', async (request, response) => {
      const { method = '', url = '', headers } = request;
      store.asked.push(url);
      const body = await buffer(request);
      const [, bucket = '', key = ''] = /^\/([\w-]+)\/(\w+)$/.exec(url) ?? [];
      const time = String(headers['x-amz-date']).replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5');
      const expected = signed(
        { ...store.bucket, url: new URL(`/${bucket}`, store.bucket.url).href },
        method,
        key,
        body,
        new Date(time),
      ).headers;
      const isSigned = ['authorization', 'x-amz-content-sha256'].every((name) => headers[name] === expected.get(name));
      const location = store.redirects.get(url);
      if (location !== undefined) return response.writeHead(307, { location }).end();
      if (!isSigned) return response.writeHead(403).end('forged');
      if (method === 'PUT') store.objects.set(url, body);
      const found = store.objects.get(url);
      return response.writeHead(found ? 200 : 404).end(method === 'GET' ? found : undefined);
    });
    return store;
  }

  stop(): void {
    this.#server.close();
  }
}
