"""Encrypts every value with AES-256-GCM. Needs `pip install cryptography`.

A value is read only where it was sent to: a copy of it in another mailbox, under another work_key, or as another message's
result is refused, as is a value that is not encrypted. Stored: the length of the places (2 bytes), a new nonce (12 bytes), the
places as JSON, the encrypted value.
"""

import json
import os
from collections.abc import Sequence
from typing import Literal

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

LENGTH_BYTES = 2
NONCE_BYTES = 12


class Encrypt:
    name = 'aes-256-gcm-bound'
    seals: Literal[True] = True

    def __init__(self, key: bytes) -> None:
        """key: 32 bytes that senders, workers and readers share, and the service never sees."""
        self._secret = AESGCM(key)

    def encode(self, data: bytes, places: Sequence[str]) -> bytes:
        if not places:
            raise ValueError('encryption needs the id of the mailbox, group or message before the call')
        bound = json.dumps(places, ensure_ascii=False).encode()
        nonce = os.urandom(NONCE_BYTES)
        return len(bound).to_bytes(LENGTH_BYTES, 'big') + nonce + bound + self._secret.encrypt(nonce, data, bound)

    def decode(self, data: bytes, places: Sequence[str]) -> bytes:
        nonce_end = LENGTH_BYTES + NONCE_BYTES
        bound_end = nonce_end + int.from_bytes(data[:LENGTH_BYTES], 'big')
        bound = data[nonce_end:bound_end]
        value = self._secret.decrypt(data[LENGTH_BYTES:nonce_end], data[bound_end:], bound)
        if not set(json.loads(bound)) & set(places):
            raise ValueError('the value was sent to another place')
        return value
