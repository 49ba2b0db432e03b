"""Compresses values of 1 KiB and more, of at most 16 MiB."""

import gzip
import zlib

MAX_BYTES = 2**24  # a few hundred bytes can unpack to a gigabyte, so a reader needs a limit


class Compress:
    name = 'gzip'

    def encode(self, data: bytes) -> 'bytes | None':
        if len(data) > MAX_BYTES:
            raise ValueError(f'the value has {len(data)} bytes, and gzip takes {MAX_BYTES}')
        return None if len(data) < 1024 else gzip.compress(data, mtime=0)

    def decode(self, data: bytes) -> bytes:
        stream = zlib.decompressobj(wbits=31)
        value = stream.decompress(data, MAX_BYTES + 1)
        if len(value) > MAX_BYTES or not stream.eof:
            raise ValueError(f'more than {MAX_BYTES} bytes, or cut off')
        return value
