// Keeps large values in a bucket of S3, or of a compatible store (MinIO, Garage, R2): the message has only the key of the
// object. Set a lifecycle rule on the bucket that deletes objects older than your retention.
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

/** @param minBytes smaller values stay in the message */
export function s3(bucket: Bucket, minBytes = 16_384): Codec {
  const call = async (method: string, key: string, body: Uint8Array = new Uint8Array()): Promise<Uint8Array> => {
    const response = await fetch(signed(bucket, method, key, body, new Date()));
    if (!response.ok) throw new Error(`${method} ${key}: ${response.status} ${(await response.text()).slice(0, 200)}`);
    return new Uint8Array(await response.arrayBuffer());
  };
  return {
    name: 's3',
    encode: async (bytes) => {
      if (bytes.length < minBytes) return undefined;
      const key = sha256(bytes);
      await call('PUT', key, bytes);
      return new TextEncoder().encode(key);
    },
    decode: (bytes) => call('GET', new TextDecoder().decode(bytes)),
  };
}
