"""Compresses values of 1 KiB and more."""

import gzip


class Compress:
    name = 'gzip'

    def encode(self, data: bytes) -> 'bytes | None':
        return None if len(data) < 1024 else gzip.compress(data, mtime=0)

    def decode(self, data: bytes) -> bytes:
        return gzip.decompress(data)
