"""Keeps large values in a folder that all processes share; the message has only the name of the file.

Files are named by their content, so the same value is kept once, and a file with other content is refused. Delete files
yourself when they are older than your retention.
"""

import hashlib
import os
import re
import uuid
from pathlib import Path


class Folder:
    name = 'folder'

    def __init__(self, path: 'Path | str', min_bytes: int = 16_384, max_bytes: int = 2**24) -> None:
        self.path = Path(path)
        self.min_bytes = min_bytes  # smaller values stay in the message
        self.max_bytes = max_bytes  # larger ones are neither stored nor read

    def encode(self, data: bytes) -> 'bytes | None':
        if len(data) < self.min_bytes:
            return None
        self._check(data)
        name = hashlib.sha256(data).hexdigest()
        file = self.path / name
        try:
            os.utime(file)  # an existing file is reused, and must not be deleted as old
        except FileNotFoundError:
            self.path.mkdir(parents=True, exist_ok=True)
            part = file.with_name(f'{name}.{uuid.uuid4()}')
            part.write_bytes(data)
            part.rename(file)
        return name.encode()

    def decode(self, data: bytes) -> bytes:
        name = data.decode()
        # Any other name could lead out of the folder.
        if not re.fullmatch('[0-9a-f]{64}', name):
            raise ValueError('it is no name of a value')
        with (self.path / name).open('rb') as file:
            value = file.read(self.max_bytes + 1)
        self._check(value)
        if hashlib.sha256(value).hexdigest() != name:
            raise ValueError('the file has other content')
        return value

    def _check(self, value: bytes) -> None:
        if len(value) > self.max_bytes:
            raise ValueError(f'the value has more than {self.max_bytes} bytes')
