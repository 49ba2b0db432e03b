"""Verifies the webhook messages on stdin; prints the error of each, or None."""

import json
import sys

from muster import WebhookError, verify_webhook


def error_of(case: dict) -> str | None:
    try:
        verify_webhook(case['body'], case['headers'], case['secrets'], now=case['now'])
    except WebhookError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001: any other is a defect, which the test shows
        return repr(error)
    return None


print(json.dumps([error_of(case) for case in json.load(sys.stdin)]))
