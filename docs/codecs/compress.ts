// Compresses values of 1 KiB and more.
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Codec } from 'muster-client';

export const compress: Codec = {
  name: 'gzip',
  encode: (bytes) => (bytes.length < 1_024 ? undefined : promisify(gzip)(bytes)),
  decode: (bytes) => promisify(gunzip)(bytes),
};
