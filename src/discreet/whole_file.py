"""Files that are there whole or not at all: what is written takes the place of a file when it is complete."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO

from discreet.errors import Invalid


@contextmanager
def whole_file(path: str | Path, *, secret: bool = False) -> Iterator[BinaryIO]:
    """A file to write bytes to, which gets its name at the end of the block, durably; where that ends by an exception nothing has changed.

    Whoever is killed before leaves the file that there was. A `secret` file is for its owner alone; others are for whom new files are.
    """
    target = Path(path)
    try:
        file = NamedTemporaryFile(dir=target.absolute().parent, prefix=f".{target.name}-", delete=False)  # noqa: SIM115
    except OSError as error:
        raise _unwritable(target, error) from None
    try:
        with file:
            yield file  # type: ignore[misc]  # of a wrapper with the same methods
            file.flush()
            os.fsync(file.fileno())
        os.chmod(file.name, 0o600 if secret else 0o666 & ~_mask())
        os.replace(file.name, target)
        _synced(target.absolute().parent)
    except OSError as error:
        raise _unwritable(target, error) from None
    finally:
        with suppress(FileNotFoundError):  # it has its name by now
            os.unlink(file.name)


def write_whole(path: str | Path, data: bytes, *, secret: bool = False) -> None:
    """The file holds these bytes, durably, once this returns."""
    with whole_file(path, secret=secret) as file:
        file.write(data)


def _synced(folder: Path) -> None:
    """The names in a folder are durable once this returns."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _mask() -> int:
    """What new files may not be used for: temporary ones are for their owner alone."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _unwritable(target: Path, error: OSError) -> Invalid:
    return Invalid(
        f"{str(target)!r} cannot be written: {error.strerror}",
        code="out",
        hint="name a file in a folder that exists and may be written to",
    )
