// Keeps large values in a bucket of S3, or of a compatible store (MinIO, Garage, R2): the message has only the key of the
// object, which is the digest of its content. Another key, or an object with other content, is refused. Set a lifecycle rule on the bucket that deletes objects older than your retention.
import { createHash, createHmac } from 'node:crypto';
import type { Codec } from 'muster-client';

export interface Bucket {
  /** `https://s3.eu-central-1.amazonaws.com/my-bucket`, or `http://127.0.0.1:9000/my-bucket`. */
  readonly url: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const sha256 = (data: Uint8Array | string): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: Uint8Array | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** Signs a request with AWS Signature Version 4. */
export function signed(bucket: Bucket, method: string, key: string, body: Uint8Array, now: Date): Request {
  const url = new URL(`${bucket.url}/${key}`);
  const time = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const [date, hash] = [time.slice(0, 8), sha256(body)];
  const headers = { host: url.host, 'x-amz-content-sha256': hash, 'x-amz-date': time };
  const names = Object.keys(headers).join(';');
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const request = [method, url.pathname, '', lines.join(''), names, hash].join('\n');
  const scope = `${date}/${bucket.region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(request)].join('\n');
  const parts = [date, bucket.region, 's3', 'aws4_request'];
  const secret = parts.reduce<Uint8Array | string>(
    (secretSoFar, part) => hmac(secretSoFar, part),
    `AWS4${bucket.secretAccessKey}`,
  );
  const credential = `Credential=${bucket.accessKeyId}/${scope}`;
  const signature = `Signature=${hmac(secret, text).toString('hex')}`;
  const Authorization = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names}, ${signature}`;
  return new Request(url, {
    method,
    headers: { 'x-amz-content-sha256': hash, 'x-amz-date': time, Authorization },
    ...(method === 'PUT' && { body: Uint8Array.from(body) }),
  });
}

const timeoutMs = 60_000;

/** The body of a response, if it is not larger than this. */
async function bodyOf(response: Response, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > maxBytes) throw new Error(`the object has more than ${maxBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/**
 * @param minBytes smaller values stay in the message
 * @param maxBytes larger ones are neither stored nor read
 */
export function s3(bucket: Bucket, minBytes = 16_384, maxBytes = 2 ** 24): Codec {
  const call = async (method: string, key: string, body: Uint8Array = new Uint8Array()): Promise<Uint8Array> => {
    const request = signed(bucket, method, key, body, new Date());
    // A redirection would take the signature elsewhere.
    const response = await fetch(request, { redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
    if (response.ok) return bodyOf(response, maxBytes);
    await response.body?.cancel();
    throw new Error(`the bucket answered ${method} with ${response.status}`);
  };
  return {
    name: 's3',
    encode: async (bytes) => {
      if (bytes.length < minBytes) return undefined;
      if (bytes.length > maxBytes)
        throw new Error(`the value has ${bytes.length} bytes, and the bucket takes ${maxBytes}`);
      const key = sha256(bytes);
      await call('PUT', key, bytes);
      return new TextEncoder().encode(key);
    },
    decode: async (bytes) => {
      const key = new TextDecoder().decode(bytes);
      // Any other key could lead out of the bucket, with the reader's signature.
      if (!/^[0-9a-f]{64}$/.test(key)) throw new Error('it is no key of a value');
      const value = await call('GET', key);
      if (sha256(value) !== key) throw new Error('the object has other content');
      return value;
    },
  };
}
