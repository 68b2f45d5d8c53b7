"""Reads outcomes, as CSV or JSON Lines, in blocks of columns; every mistake with its line.

Columns: ``unit``, ``metric``, ``value``, and if wanted ``at`` (when, ISO 8601 with an
offset) and ``variant`` (the arm the service says it gave; it is never believed, only
compared). Streaming: a file of any length takes the memory of one block.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from operator import attrgetter, methodcaller
from typing import Annotated, Any, BinaryIO, cast

import msgspec

from memrepo.buckets.key import normal_unit
from memrepo.errors import BadInput
from memrepo.protocol.suggest import closest, shown

BLOCK_ROWS = 10_000
BLOCK_BYTES = 524_288
REQUIRED = ("unit", "metric", "value")
COLUMNS = (*REQUIRED, "at", "variant")

LineOf = Callable[[int], int]

_offset = attrgetter("tzinfo")
_count_commas = methodcaller("count", ",")
_BOM = b"\xef\xbb\xbf"


class Block(msgspec.Struct, frozen=True):
    """Some rows as columns of one length. ``units`` are normal; ``at`` in seconds since 1970.

    ``line_of`` gives the line of a row (both the row's index here, and lines, from 0 and 1).
    """

    units: Sequence[str]
    metrics: Sequence[str]
    values: Sequence[float]
    at: Sequence[float] | None
    variants: Sequence[str] | None
    line_of: LineOf

    def bad(self, row: int, message: str, hint: str = "") -> BadInput:
        """The error that says what is wrong with a row."""
        return bad_line(self.line_of(row), message, hint)


class _Record(msgspec.Struct, forbid_unknown_fields=True):
    unit: str | int
    metric: str
    value: float
    at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    variant: str | None = None


def bad_line(line: int, message: str, hint: str = "") -> BadInput:
    """An error about one line of the metrics."""
    return BadInput(f"metrics line {line}: {message}", hint)


def read_blocks(stream: BinaryIO) -> Iterator[Block]:
    """The rows of ``stream`` in blocks; JSON Lines where it begins with ``{``, else CSV.

    Raises BadInput at the first mistake. An empty stream has no block.
    """
    buffered: Any = stream if hasattr(stream, "peek") else io.BufferedReader(cast(Any, stream))
    start = buffered.peek(3)[:65_536].removeprefix(_BOM).lstrip()
    yield from _json_blocks(buffered) if start.startswith(b"{") else _csv_blocks(buffered)


# --- CSV


def _csv_blocks(stream: io.BufferedReader) -> Iterator[Block]:
    line, head = 1, stream.readline().removeprefix(_BOM)
    while head and not head.strip():
        line, head = line + 1, stream.readline()
    if not head:
        return
    names = _header(_decoded(head, line), line)
    line += 1
    while data := stream.read(BLOCK_BYTES):
        text = _decoded(data + stream.readline(), line)
        if '"' in text:
            # A quoted field may go on in the next block: the csv module takes it from here.
            rest = io.TextIOWrapper(stream, encoding="utf-8", newline="")
            yield from _parsed_blocks(chain(_in_lines(text), rest), names, line)
            return
        block = _split_block(text, names, line)
        if block:
            yield block
        else:
            yield from _parsed_blocks(_in_lines(text), names, line)
        line += text.count("\n")


def _decoded(data: bytes, line: int) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line += data.count(b"\n", 0, error.start)
        raise bad_line(line, "not UTF-8", "save the file as UTF-8") from None


def _in_lines(text: str) -> Iterable[str]:
    return io.StringIO(text, newline="")


def _split_block(text: str, names: list[str], first: int) -> Block | None:
    """Rows without quotes, three times as fast as by the csv module; None where it must look."""
    text = text.replace("\r\n", "\n").removesuffix("\n")
    rows = text.split("\n")
    if "\r" in text or set(map(_count_commas, rows)) != {len(names) - 1}:
        return None
    fields = text.replace("\n", ",").split(",")
    columns = {name: fields[place :: len(names)] for place, name in enumerate(names)}
    return _csv_block(columns, lambda row: first + row)


def _parsed_blocks(lines: Iterable[str], names: list[str], first: int) -> Iterator[Block]:
    reader = csv.reader(lines, strict=True)
    before = first - 1
    try:
        while rows := list(islice(reader, BLOCK_ROWS)):
            line_of = _lines(rows, first)
            for row, fields in enumerate(rows):
                if fields and len(fields) != len(names):
                    message = f"{len(fields)} fields where the first line names {len(names)}"
                    raise bad_line(line_of(row), message)
            kept = [row for row, fields in enumerate(rows) if fields]
            columns = dict(zip(names, zip(*filter(None, rows), strict=True), strict=False))
            if kept:
                yield _csv_block(columns, _of_kept(line_of, kept))
            first = before + reader.line_num + 1
    except csv.Error as error:
        raise bad_line(before + reader.line_num, f"no CSV: {error}") from None
    except UnicodeDecodeError:
        # The line is not known to the reader, which decodes ahead of what it gives.
        raise BadInput("the metrics are not UTF-8", "save the file as UTF-8") from None


def _lines(rows: list[list[str]], first: int) -> LineOf:
    def line_of(row: int) -> int:
        return first + row + sum(field.count("\n") for before in rows[:row] for field in before)

    return line_of


def _of_kept(line_of: LineOf, kept: list[int]) -> LineOf:
    return lambda row: line_of(kept[row])


def _header(text: str, line: int) -> list[str]:
    try:
        names = [name.strip() for name in next(csv.reader([text], strict=True))]
    except csv.Error as error:
        raise bad_line(line, f"no CSV: {error}") from None
    for name in names:
        if name not in COLUMNS:
            hint = closest(name, COLUMNS) or f"the first line names the columns: {_known()}"
            raise bad_line(line, f"no column {shown(name)} is known", hint)
        if names.count(name) > 1:
            raise bad_line(line, f"the column `{name}` is there twice")
    for name in REQUIRED:
        if name not in names:
            raise bad_line(line, f"no column `{name}`", f"the first line names them: {_known()}")
    return names


def _known() -> str:
    return ", ".join(COLUMNS)


def _csv_block(columns: Mapping[str, Sequence[str]], line_of: LineOf) -> Block:
    at = columns.get("at")
    return Block(
        _units(columns["unit"], line_of),
        columns["metric"],
        _column(_numbers, columns["value"], line_of, "value", "is no number"),
        None
        if at is None
        else _column(_seconds, at, line_of, "at", "is no ISO 8601 time with an offset"),
        columns.get("variant"),
        line_of,
    )


def _numbers(texts: Sequence[str]) -> list[float]:
    if "_" in "".join(texts):
        raise ValueError("Python reads 1_0 as a number, nobody else does")
    return list(map(float, texts))


def _seconds(texts: Sequence[str]) -> list[float]:
    times = list(map(datetime.fromisoformat, texts))
    if None in set(map(_offset, times)):
        raise ValueError("a time without an offset")
    return list(map(datetime.timestamp, times))


def _column(
    convert: Callable[[Sequence[str]], list[float]],
    texts: Sequence[str],
    line_of: LineOf,
    name: str,
    wrong: str,
) -> list[float]:
    """The whole column at once; row by row only to find the one that cannot be read."""
    try:
        return convert(texts)
    except ValueError:
        pass
    for row, text in enumerate(texts):
        try:
            convert([text])
        except ValueError:
            if not text.strip():
                raise bad_line(line_of(row), f"no `{name}`") from None
            raise bad_line(line_of(row), f"`{name}` {wrong}: {shown(text)}") from None
    raise AssertionError("what failed once fails again")


def _units(units: Sequence[Any], line_of: LineOf) -> Sequence[str]:
    try:
        text = "".join(units)
        if text.isascii() and text.isprintable() and " " not in text and all(units):
            return units
    except TypeError:
        pass
    normal = []
    for row, unit in enumerate(units):
        try:
            normal.append(normal_unit(unit))
        except BadInput as error:
            raise bad_line(line_of(row), error.message, error.hint) from None
    return normal


# --- JSON Lines


def _json_blocks(stream: io.BufferedReader) -> Iterator[Block]:
    decoder = msgspec.json.Decoder(_Record)
    line = 1
    while data := stream.read(BLOCK_BYTES):
        data += stream.readline()
        if line == 1:
            data = data.removeprefix(_BOM)
        line_of = _json_lines(data, line)
        try:
            records = decoder.decode_lines(data)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise _json_mistake(decoder, data, line) from None
        line += data.count(b"\n")
        if records:
            yield _json_block(records, line_of)


def _json_lines(data: bytes, first: int) -> LineOf:
    def line_of(row: int) -> int:
        filled = [number for number, text in enumerate(data.split(b"\n")) if text.strip()]
        return first + filled[row]

    return line_of


def _json_mistake(decoder: msgspec.json.Decoder[_Record], data: bytes, line: int) -> BadInput:
    for number, text in enumerate(data.split(b"\n"), line):
        if not text.strip():
            continue
        try:
            decoder.decode(text)
        except UnicodeDecodeError:
            return bad_line(number, "not UTF-8", "save the file as UTF-8")
        except msgspec.MsgspecError as error:
            if re.search(rb":\s*-?(NaN|Infinity)", text):
                return bad_line(number, "`value` is not finite", "leave out what was not measured")
            # The decoder shows names of keys as they are.
            words = f"{ascii(str(error))[1:-1]}"
            return bad_line(number, words, f"one object a line, with {_known()}")
    return bad_line(line, "no JSON Lines")


def _json_block(records: list[_Record], line_of: LineOf) -> Block:
    times = [record.at for record in records]
    at = None
    if times.count(None) < len(times):
        if None in times:
            raise bad_line(line_of(times.index(None)), "no `at`, which other rows have")
        at = [when.timestamp() for when in times if when is not None]
    variants = [record.variant or "" for record in records]
    return Block(
        _units([record.unit for record in records], line_of),
        [record.metric for record in records],
        [record.value for record in records],
        at,
        variants if any(variants) else None,
        line_of,
    )
