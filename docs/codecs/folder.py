"""Keeps large values in a folder that all processes share; the message has only the name of the file.

Files are named by their content, so the same value is kept once. Delete files yourself when they are older than your
retention.
"""

import hashlib
import os
import re
import uuid
from pathlib import Path


class Folder:
    name = 'folder'

    def __init__(self, path: 'Path | str', min_bytes: int = 16_384) -> None:
        self.path = Path(path)
        self.min_bytes = min_bytes  # smaller values stay in the message

    def encode(self, data: bytes) -> 'bytes | None':
        if len(data) < self.min_bytes:
            return None
        name = hashlib.sha256(data).hexdigest()
        file = self._file(name)
        try:
            os.utime(file)  # an existing file is reused, and must not be deleted as old
        except FileNotFoundError:
            self.path.mkdir(parents=True, exist_ok=True)
            part = file.with_name(f'{name}.{uuid.uuid4()}')
            part.write_bytes(data)
            part.rename(file)
        return name.encode()

    def decode(self, data: bytes) -> bytes:
        return self._file(data.decode()).read_bytes()

    def _file(self, name: str) -> Path:
        if not re.fullmatch('[0-9a-f]{64}', name):
            raise ValueError(f'{name!r} is no name of a value')
        return self.path / name
