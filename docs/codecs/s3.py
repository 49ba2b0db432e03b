"""Keeps large values in a bucket of S3, or of a store that speaks its protocol (MinIO, Garage, R2).

The message has only the key of the object, which is the digest of its content. Another key, or an object with other content,
is refused. Set a lifecycle rule on the bucket that deletes objects older than your retention.
"""

import hashlib
import hmac
import re
import urllib.error
import urllib.request
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import reduce
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Bucket:
    url: str  # https://s3.eu-central-1.amazonaws.com/my-bucket, or http://127.0.0.1:9000/my-bucket
    region: str
    access_key_id: str
    secret_access_key: str


def signed(bucket: Bucket, method: str, key: str, body: bytes, now: datetime) -> urllib.request.Request:
    """Signs a request with AWS Signature Version 4."""
    url = urlsplit(f'{bucket.url}/{key}')
    time = now.astimezone(timezone.utc).strftime('%Y%m%dT%H%M%SZ')
    content = hashlib.sha256(body).hexdigest()
    headers = {'host': url.netloc, 'x-amz-content-sha256': content, 'x-amz-date': time}
    names = ';'.join(headers)
    lines = ''.join(f'{name}:{value}\n' for name, value in headers.items())
    request = '\n'.join([method, url.path, '', lines, names, content])
    parts = [time[:8], bucket.region, 's3', 'aws4_request']
    scope = '/'.join(parts)
    text = '\n'.join(['AWS4-HMAC-SHA256', time, scope, hashlib.sha256(request.encode()).hexdigest()])
    secret = reduce(_hmac, parts, f'AWS4{bucket.secret_access_key}'.encode())
    credential = f'Credential={bucket.access_key_id}/{scope}'
    signature = f'Signature={_hmac(secret, text).hex()}'
    headers['Authorization'] = f'AWS4-HMAC-SHA256 {credential}, SignedHeaders={names}, {signature}'
    headers['Content-Type'] = 'application/octet-stream'
    return urllib.request.Request(url.geturl(), body if method == 'PUT' else None, headers, method=method)


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), 'sha256')


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirection, which would take the signature elsewhere."""

    def redirect_request(self, *_: object) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)


class S3:
    name = 's3'

    def __init__(self, bucket: Bucket, min_bytes: int = 16_384, max_bytes: int = 2**24) -> None:
        self.bucket = bucket
        self.min_bytes = min_bytes  # smaller values stay in the message
        self.max_bytes = max_bytes  # larger ones are neither stored nor read

    def encode(self, data: bytes) -> 'bytes | None':
        if len(data) < self.min_bytes:
            return None
        self._check(data)
        key = hashlib.sha256(data).hexdigest()
        self._call('PUT', key, data)
        return key.encode()

    def decode(self, data: bytes) -> bytes:
        key = data.decode()
        # Any other key could lead out of the bucket, with the reader's signature.
        if not re.fullmatch('[0-9a-f]{64}', key):
            raise ValueError('it is no key of a value')
        value = self._call('GET', key)
        if hashlib.sha256(value).hexdigest() != key:
            raise ValueError('the object has other content')
        return value

    def _call(self, method: str, key: str, body: bytes = b'') -> bytes:
        request = signed(self.bucket, method, key, body, datetime.now(timezone.utc))
        try:
            with _opener.open(request, timeout=60) as response:
                value = response.read(self.max_bytes + 1)
        except urllib.error.HTTPError as error:
            error.close()
            raise OSError(f'the bucket answered {method} with {error.code}') from None
        self._check(value)
        return value

    def _check(self, value: bytes) -> None:
        if len(value) > self.max_bytes:
            raise ValueError(f'the value has more than {self.max_bytes} bytes')
