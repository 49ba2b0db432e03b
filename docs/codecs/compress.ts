// Compresses values of 1 KiB and more, of at most 16 MiB.
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Codec } from 'muster-client';

/** A few hundred bytes can unpack to a gigabyte, so a reader needs a limit. */
const maxBytes = 2 ** 24;

export const compress: Codec = {
  name: 'gzip',
  encode: (bytes) => {
    if (bytes.length > maxBytes) throw new Error(`the value has ${bytes.length} bytes, and gzip takes ${maxBytes}`);
    return bytes.length < 1_024 ? undefined : promisify(gzip)(bytes);
  },
  decode: (bytes) => promisify(gunzip)(bytes, { maxOutputLength: maxBytes }),
};
