"""Reads messages with codecs of docs/codecs, as lines of JSON ask: see codec-readers.ts."""

from __future__ import annotations

import json
import sys
from typing import Any

from docs_codecs import module
from muster import Muster, Worker


def codec_of(name: str, asked: dict[str, Any]) -> Any:
    if name == 'gzip':
        return module('compress').Compress()
    if name == 'folder':
        return module('folder').Folder(asked['folder'])
    s3 = module('s3')
    return s3.S3(s3.Bucket(asked['bucket'], 'eu-central-1', 'AKIAEXAMPLE', 'secretEXAMPLE'))


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    with Muster(asked['url'], asked['key'], asked['spaceId'], codecs=[codec_of(one, asked) for one in asked['codecs']]) as muster:
        if asked['act'] == 'work':
            with Worker(muster, {'mailbox_id': asked['mailboxId']}, lambda one, _: one.payload, close_on_signals=False) as worker:
                worker.drained()
            return {}
        message = muster.message.view(message_id=asked['messageId'])
        try:
            return {'value': getattr(message, asked['field'])}
        except Exception as error:
            return {'error': str(error)}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
