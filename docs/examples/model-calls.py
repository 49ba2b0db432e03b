"""Model calls within limits: ten agents share a provider's limit of tokens and a budget. Each call reserves the most
that it may need, and settles the usage in the provider's answer. A small server stands in for the provider here."""

import json
import threading
import urllib.request
import uuid
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from muster import ModelCall, Muster, Spend, Usage

muster = Muster()
name = f'models-{uuid.uuid4()}'


class Provider(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"text":"an answer","usage":{"input_tokens":100,"output_tokens":50}}')

    def log_message(self, format: str, *args: object) -> None:
        pass


provider = ThreadingHTTPServer(('127.0.0.1', 0), Provider)
threading.Thread(target=provider.serve_forever, daemon=True).start()

# Ten dollars a day, and as many tokens as the provider allows.
day = 86_400
budget = muster.budget.create(name=name, currency='USD', scale=6, limit_minor=10_000_000, window_seconds=day)
quota = muster.allowance.create(name=name, units_limit=5000, window_seconds=day)


def price(usage: Usage) -> int:
    """Three millionths of a dollar for an input token, fifteen for an output token."""
    return 3 * usage.input_tokens + 15 * usage.output_tokens


def call_model(call: ModelCall) -> str:
    url = f'http://127.0.0.1:{provider.server_address[1]}'
    with call.fetch(urllib.request.urlopen, url, data=b'a question', timeout=call.timeout_seconds) as response:
        body = json.load(response)
        call.answered(response, body)
    return str(body['text'])


def ask(_: int) -> str:
    return muster.spend(Spend(budget=name, quota=name, units=1000, amount_minor=9000, price=price), call_model)


with ThreadPoolExecutor(10) as agents:
    answers = list(agents.map(ask, range(10)))
provider.shutdown()

used = muster.allowance.view(allowance_id=quota.id)
print(f'{len(answers)} answers took {used.used_units} of {used.units_limit} tokens')
print(f'they cost {muster.budget.view(budget_id=budget.id).balances.settled} millionths of a dollar')
