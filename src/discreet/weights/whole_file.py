"""Files that are there whole or not at all: what is written takes the place of a file when it is complete."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO

from discreet.errors import Invalid


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write bytes to, which gets its name at the end of the block; where that ends by an exception nothing has changed."""
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
        os.chmod(file.name, 0o666 & ~_mask())
        os.replace(file.name, target)
    except OSError as error:
        raise _unwritable(target, error) from None
    finally:
        with suppress(FileNotFoundError):  # it has its name by now
            os.unlink(file.name)


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
