"""The codecs of docs/codecs, which are programs to copy."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

CODECS = Path(__file__).parents[2] / 'docs/codecs'


def module(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, CODECS / f'{name}.py')
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[name] = found  # Dataclasses look up their types here.
    spec.loader.exec_module(found)
    return found
