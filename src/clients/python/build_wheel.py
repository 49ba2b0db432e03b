"""Builds the wheel (PEP 517) from the package's files and the metadata in pyproject.toml.

Neither the package nor its build has dependencies, so pip can install it from a checkout without access to a
package index.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path

_root = Path(__file__).parent
_project = dict(re.findall(r'^([\w-]+) = "([^"]*)"$', (_root / 'pyproject.toml').read_text(), re.MULTILINE))
_name = _project['name'].replace('-', '_')
_version = _project['version']
_metadata = f"""Metadata-Version: 2.4
Name: {_project['name']}
Version: {_version}
Summary: {_project['description']}
License-Expression: Apache-2.0
License-File: LICENSE
Requires-Python: {_project['requires-python']}
Description-Content-Type: text/markdown

{(_root / 'README.md').read_text()}"""
_tag = 'py3-none-any'
_wheel = f'Wheel-Version: 1.0\nGenerator: muster\nRoot-Is-Purelib: true\nTag: {_tag}\n'


def _package() -> dict[str, bytes]:
    if not (_root / 'muster/_calls.py').exists() or not (_root / 'LICENSE').exists():
        raise SystemExit('muster/_calls.py and LICENSE are made by the build: run `npm ci` in the checkout, then install again')
    files = sorted(path for path in (_root / 'muster').rglob('*') if path.suffix == '.py' or path.name == 'py.typed')
    return {path.relative_to(_root).as_posix(): path.read_bytes() for path in files}


def _written(folder: str, files: dict[str, bytes]) -> str:
    info = f'{_name}-{_version}.dist-info'
    licence = (_root / 'LICENSE').read_bytes()
    files = {
        **files,
        f'{info}/METADATA': _metadata.encode(),
        f'{info}/WHEEL': _wheel.encode(),
        f'{info}/licenses/LICENSE': licence,
    }
    record = ''.join(f'{path},sha256={_digest(data)},{len(data)}\n' for path, data in files.items())
    files[f'{info}/RECORD'] = f'{record}{info}/RECORD,,\n'.encode()
    name = f'{_name}-{_version}-{_tag}.whl'
    with zipfile.ZipFile(Path(folder, name), 'w', zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = 0o644 << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return name


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()


def build_wheel(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> str:
    """Builds the wheel. Returns its file name."""
    return _written(wheel_directory, _package())


def build_editable(wheel_directory: str, config_settings: object = None, metadata_directory: object = None) -> str:
    """Builds a wheel that only points to this folder. Returns its file name."""
    return _written(wheel_directory, {f'{_name}.pth': f'{_root}\n'.encode()})


def build_sdist(sdist_directory: str, config_settings: object = None) -> str:
    """Builds the source distribution, reproducibly: the same files give the same bytes. Returns its file name."""
    name = f'{_name}-{_version}'
    files = _package()
    for path in ['pyproject.toml', 'README.md', 'LICENSE', 'build_wheel.py']:
        files[path] = (_root / path).read_bytes()
    # Indexes refuse an sdist without it.
    files['PKG-INFO'] = _metadata.encode()
    with gzip.GzipFile(Path(sdist_directory, f'{name}.tar.gz'), 'wb', mtime=0) as zipped:
        with tarfile.open(fileobj=zipped, mode='w') as sdist:
            for path, data in files.items():
                entry = tarfile.TarInfo(f'{name}/{path}')
                entry.size = len(data)
                entry.mode = 0o644
                sdist.addfile(entry, io.BytesIO(data))
    return f'{name}.tar.gz'
