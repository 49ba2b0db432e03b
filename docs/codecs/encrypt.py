"""Encrypts every value with AES-256-GCM and a new nonce, which is put in front. Needs `pip install cryptography`."""

import os

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12


class Encrypt:
    name = 'aes-256-gcm'

    def __init__(self, key: bytes) -> None:
        """key: 32 bytes that senders, workers and readers share, and the service never sees."""
        self._secret = AESGCM(key)

    def encode(self, data: bytes) -> bytes:
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._secret.encrypt(nonce, data, None)

    def decode(self, data: bytes) -> bytes:
        return self._secret.decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], None)
