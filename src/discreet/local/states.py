"""States of collectors in files: as JSON, or as Parquet, whose one row holds the same fields in columns, and the SHA-256 of that JSON.

Whichever it is, what is read is what was written, or it is refused. A file is replaced whole and durably.
"""

import base64
import hashlib
import io
import json
from pathlib import Path
from typing import Any

from discreet.errors import Invalid
from discreet.exact import shown
from discreet.local.canonical import written
from discreet.whole_file import write_whole

VERSION = 1  # of states, as JSON has it
MOST_BYTES = 1 << 30  # of a file: the largest set of seen tokens as text, and the largest totals, are in it
ENDINGS = (".json", ".parquet")


def write_state(path: str | Path, text: str) -> None:
    """Write the text of a state as the ending of the name says, durably; Invalid, and the old file stays, where it cannot be done."""
    write_whole(path, _rows(text) if _ending(path) == ".parquet" else text.encode("ascii"))


def check_kind(path: str | Path) -> None:
    """Invalid where no state can be kept under this name: it ends in something else, or in .parquet, and there is no pyarrow."""
    if _ending(path) == ".parquet":
        _arrow()


def read_state(path: str | Path) -> str:
    """The text of the state in a file; Invalid for a file that is none."""
    parquet, source = _ending(path) == ".parquet", Path(path)
    try:
        if source.stat().st_size > MOST_BYTES:
            raise _unsound(source)
        data = source.read_bytes()
    except FileNotFoundError:
        raise Invalid(f"there is no file {str(source)!r}", code="no-file") from None
    except OSError as error:
        raise Invalid(f"{str(source)!r} cannot be read: {error.strerror}", code="no-file") from None
    try:
        return _text(source, data) if parquet else data.decode("ascii")
    except UnicodeDecodeError:
        raise _unsound(source) from None


def _ending(path: str | Path) -> str:
    if not isinstance(path, str | Path) or "\0" in str(path):
        raise Invalid(f"a state must be named by a path, got {shown(path)}")
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise Invalid(f"a state must end in {' or '.join(ENDINGS)}, got {shown(str(path))}")
    return ending


def _rows(text: str) -> bytes:
    """The Parquet file of a state, not compressed, with a checksum of each page."""
    arrow, parquet = _arrow()
    record = json.loads(text)
    del record["format"]
    record["seen"]["bits"] = base64.b64decode(record["seen"]["bits"])
    record["sha256"] = hashlib.sha256(text.encode("ascii")).hexdigest()
    file = io.BytesIO()
    table = arrow.Table.from_pylist([record], _schema(arrow, record))
    parquet.write_table(table, file, compression="none", use_dictionary=False, write_page_checksum=True)
    return file.getvalue()


def _text(source: Path, data: bytes) -> str:
    """The text of the state that a Parquet file is of."""
    arrow, parquet = _arrow()
    try:
        file = parquet.ParquetFile(arrow.BufferReader(data), page_checksum_verification=True)
        facts = file.metadata
        inside = sum(facts.row_group(each).total_byte_size for each in range(facts.num_row_groups))
        if facts.num_rows != 1 or inside > len(data):  # what is packed tighter was not written here
            raise _unsound(source)
        table = file.read()
        record = table.to_pylist()[0]
        if not table.schema.equals(_schema(arrow, record)):
            raise _unsound(source)
        digest = record.pop("sha256")
        record["seen"]["bits"] = base64.b64encode(record["seen"]["bits"]).decode("ascii")
        text = written("collector", record.pop("version"), record)
    except (arrow.ArrowException, OSError, LookupError, TypeError, ValueError) as error:
        raise _unsound(source) from error
    if hashlib.sha256(text.encode("ascii")).hexdigest() != digest:
        raise _unsound(source)
    return text


def _schema(arrow: Any, record: dict[str, Any]) -> Any:
    """The columns of a state, none of which may be NULL."""
    whole = arrow.int64()

    def known(name: str, kind: Any) -> Any:
        return arrow.field(name, kind, nullable=False)

    seen = [known("bits", arrow.binary()), known("hashes", whole), known("size", whole)]
    return arrow.schema(
        [
            known("campaign", arrow.string()),
            known("n", whole),
            known("rejected", arrow.struct([known(reason, whole) for reason in sorted(record["rejected"])])),
            known("seen", arrow.struct(seen)),
            known("totals", arrow.list_(known("element", whole))),
            known("version", whole),
            known("sha256", arrow.string()),
        ]
    )


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        hint = "pip install pyarrow; a state that ends in .json needs nothing"
        raise Invalid("pyarrow is not installed", code="not-installed", hint=hint) from None
    return pyarrow, pyarrow.parquet


def _unsound(source: Path) -> Invalid:
    return Invalid(f"{source.name!r} is not the state of a collector", code="malformed")
