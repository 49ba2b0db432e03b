"""The client for Muster, the self-hosted coordination backend for fleets of agents.

```python
from muster import Muster, Worker

muster = Muster()  # MUSTER_URL, MUSTER_KEY, MUSTER_SPACE

def handle(message, task):
    return {'length': len(message.payload['text'])}

Worker(muster, 'jobs', handle, concurrency=10).run()
```
"""

from . import _records as _all_records
from ._arguments import ABSENT, After, Amount, From, Id, Moment
from ._async_pool import AsyncHolding
from ._async_run import AsyncRun, AsyncRunNote
from ._worker.event_loop import AsyncHandler, AsyncTask, AsyncWorker
from ._atomic import AsyncAtomic, Atomic, AtomicCalls
from ._base import BatchedCall, PendingCall
from ._client import AsyncMuster, AsyncReservation, BatchResult, Muster
from ._worker.options import WorkerCounts
from ._codec import Codec, SealingCodec
from ._worker.options import MailboxChoice
from ._errors import (
    Asked,
    ClaimLost,
    GiveUp,
    HoldLost,
    JoinFailed,
    MusterError,
    NoResult,
    RetryLater,
    Stopped,
    Suspended,
    UnreadableValue,
    WorkerClosed,
)
from ._journal import Journal
from ._group import AsyncTypedGroup, SucceededTask, TypedGroup, TypedTaskGroup, TypedTaskRecord
from ._mailbox import AsyncTypedMailbox, TypedClaim, TypedMailbox, TypedMessage
from ._pool import Holding
from ._record import Record
from ._records import *  # noqa: F403
from ._model_call import ModelCall, Usage
from ._quotas import SpendQuota
from ._rate_limits import KNOWN_PROVIDERS, LimitHeaders, ProviderHeaders
from ._run import Run, RunNote
from ._run_id import run_id
from ._spend import Spend
from ._worker.spending import Reservation, Settlement
from ._worker.asking import GivenAnswer
from ._worker.rate import StartRate
from ._worker.results import PrerequisiteResult
from ._worker.suspending import JoinedSend
from ._transport import Stop
from ._worker.threads import Handler, Task, Worker
from .webhooks import WebhookError, WebhookMessage, verify_webhook

__all__ = [
    'ABSENT',
    'After',
    'Amount',
    'Asked',
    'AsyncAtomic',
    'AsyncHandler',
    'AsyncHolding',
    'AsyncMuster',
    'AsyncReservation',
    'AsyncRun',
    'AsyncRunNote',
    'AsyncTask',
    'AsyncTypedGroup',
    'AsyncTypedMailbox',
    'AsyncWorker',
    'Atomic',
    'AtomicCalls',
    'BatchResult',
    'BatchedCall',
    'From',
    'ClaimLost',
    'Codec',
    'GiveUp',
    'GivenAnswer',
    'Handler',
    'HoldLost',
    'Holding',
    'Id',
    'JoinFailed',
    'JoinedSend',
    'Journal',
    'KNOWN_PROVIDERS',
    'LimitHeaders',
    'MailboxChoice',
    'ModelCall',
    'Moment',
    'Muster',
    'MusterError',
    'NoResult',
    'PendingCall',
    'PrerequisiteResult',
    'ProviderHeaders',
    'Record',
    'Reservation',
    'RetryLater',
    'Run',
    'RunNote',
    'SealingCodec',
    'Settlement',
    'Spend',
    'SpendQuota',
    'StartRate',
    'Stop',
    'Stopped',
    'SucceededTask',
    'Suspended',
    'Task',
    'TypedClaim',
    'TypedGroup',
    'TypedMailbox',
    'TypedMessage',
    'TypedTaskGroup',
    'TypedTaskRecord',
    'UnreadableValue',
    'Usage',
    'WebhookError',
    'WebhookMessage',
    'Worker',
    'WorkerClosed',
    'WorkerCounts',
    'run_id',
    'verify_webhook',
]
__all__ += _all_records.__all__
