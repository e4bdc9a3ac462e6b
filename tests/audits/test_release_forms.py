"""What somebody changes in a compressed, localized, JSON or Excel release is found, even if the digest is right."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import random
import re
import shutil
import struct
import subprocess
import sys
import warnings
import zipfile
import zlib
from pathlib import Path

import pyarrow as pa
import pytest

import sudare
from sudare.audits import audit_release
from sudare.audits.deflate_blocks import BlockError, check_blocks
from sudare.audits.json_lines import json_lines_table
from sudare.audits.plain_copies import plain_copy
from sudare.core.errors import DataError, SudareError
from sudare.policy import Policy
from sudare.releases.placement import certificate_path

DATA = pa.table(
    {
        "age": [20.5 + index % 8 for index in range(40)],
        "town": [["Köln", "Ulm", "a/b"][index % 3] for index in range(40)],
        "income": [0.25 + index for index in range(40)],
        "day": pa.array([18_000 + index for index in range(40)], pa.int32()).cast(pa.date32()),
    }
)


def rules(**release):
    columns = {"age": {"role": "quasi"}, "town": {"role": "quasi"}}
    columns |= {"income": {"role": "insensitive"}, "day": {"role": "insensitive"}}
    return {"columns": columns, "require": [{"model": "k-anonymity", "k": 4}], "release": release}


def made(folder, name, **release):
    path = folder / name
    sudare.anonymize(DATA, rules(**release), out=path, seed=1)
    assert sudare.audit(path, rules(**release)).passed
    return path


def rewritten(path, raw, change=None):
    """Write other bytes, and a certificate that has their digest."""
    path.write_bytes(raw)
    paper = certificate_path(path)
    facts = json.loads(paper.read_text())
    facts["release_sha256"] = hashlib.sha256(raw).hexdigest()
    if change is not None:
        change(facts)
    paper.write_text(json.dumps(facts))


def is_found(path, match, **release):
    try:
        report = sudare.audit(path, rules(**release))
    except SudareError as error:
        assert isinstance(error, DataError)
        assert re.search(match, str(error)), str(error)
        return
    assert not report.passed
    assert re.search(match, " ".join(map(str, report.problems)))


def test_a_changed_cell_is_found(tmp_path):
    for name in ("r.csv.gz", "r.csv.zst", "r.jsonl", "r.xlsx"):
        path = made(tmp_path, name)
        raw = bytearray(path.read_bytes())
        raw[len(raw) // 2] ^= 1
        path.write_bytes(raw)
        is_found(path, "sha256|damaged|UTF-8|JSON|archive|not the file|cannot be read|workbook|sheet|parts")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda raw: raw + b"\0", "more bytes behind"),
        (lambda raw: raw + gzip.compress(b"x", mtime=0), "more bytes behind"),
        (lambda raw: raw[:3] + b"\x08" + raw[4:10] + b"secret\0" + raw[10:], "a name, a time"),
        (lambda raw: raw[:3] + b"\x10" + raw[4:10] + b"secret\0" + raw[10:], "a name, a time"),
        (lambda raw: raw[:3] + b"\x04" + raw[4:10] + b"\2\0ab" + raw[10:], "a name, a time"),
        (lambda raw: raw[:4] + b"\1\2\3\4" + raw[8:], "a name, a time"),
        (lambda raw: raw[:9] + b"\x20" + raw[10:], "unusual header"),
        (lambda raw: raw[:-9], "cut off"),
        (lambda raw: raw[:-8] + bytes(8), "cannot be uncompressed"),
    ],
)
def test_nothing_stands_beside_a_member_of_gzip(tmp_path, change, match):
    path = made(tmp_path, "r.csv.gz")
    rewritten(path, change(path.read_bytes()))
    is_found(path, match)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda raw: raw + b"\x50\x2a\x4d\x18\2\0\0\0ab", "more bytes behind"),
        (lambda raw: raw + raw, "more bytes behind"),
        (lambda raw: raw[:-6], "cut off|more bytes|uncompressed"),
        (lambda raw: b"\x50\x2a\x4d\x18\2\0\0\0ab" + raw, "not compressed by Zstandard"),
        (lambda raw: raw[:4] + bytes([raw[4] | 8]) + raw[5:], "unusual header"),
        (lambda raw: raw[:4] + bytes([raw[4] | 16]) + raw[5:], "unusual header"),
        (lambda raw: raw[:5] + bytes([raw[5] | 1]) + raw[6:], "unusual header"),
        (lambda raw: raw[:5] + b"\x90" + raw[6:], "unusual header"),
        (lambda raw: raw[:6] + bytes(3) * 9 + raw[6:], "hold no text"),
        (lambda raw: raw[:6] + b"\2\0\0s\2\0\0e" + raw[6:], "hold no text"),
        (lambda raw: raw[:6] + b"\x14\0\0\0\0" + raw[6:], "hold no text"),
        (lambda raw: raw[:6] + b"\x1c\0\0\1s\0" + raw[6:], "hold no text"),
        (lambda raw: raw[:6] + b"\x04\0\0" + raw[6:], "hold no text"),
        (lambda raw: raw[:6] + b"".join(b"\x08\0\0" + bytes([one]) for one in b"age,town,") + raw[6:], "more blocks"),
    ],
)
def test_nothing_stands_beside_a_frame_of_zstandard(tmp_path, change, match):
    path = made(tmp_path, "r.csv.zst")
    rewritten(path, change(path.read_bytes()))
    is_found(path, match)


IDLE = b"\0\0\0\xff\xff"
"""A block of deflate that stores no byte."""


def deflated(text, level=9, effort=8):
    packer = zlib.compressobj(level, zlib.DEFLATED, -15, effort)
    return packer.compress(text) + packer.flush()


def bits(*numbers):
    """Bytes from numbers and how many bits each has, the lowest first."""
    value = width = 0
    for number, count in numbers:
        value, width = value | number << width, width + count
    return value.to_bytes((width + 7) // 8, "little")


def padded(secret):
    """Blocks that store no byte, with five bits of a secret in the padding of each."""
    found = "".join(f"{one:08b}" for one in secret)
    return b"".join(bytes([int(found[at : at + 5], 2) << 3]) + IDLE[1:] for at in range(0, len(found) - 4, 5))


def tabled(last):
    """A block without text that has a table of codes: only its end has one."""
    lengths = [{2: 1, 17: 1}.get(place, 0) for place in range(18)]  # one bit for 18, which repeats zeros, and for 1
    head = [(int(last), 1), (2, 2), (0, 5), (0, 5), (14, 4), *((length, 3) for length in lengths)]
    return [*head, (1, 1), (127, 7), (1, 1), (107, 7), (0, 1), (0, 1), (0, 1)]


def repacked_gzip(change):
    """Change how a member of gzip holds its text."""

    def changed(raw):
        text = zlib.decompress(raw, 31)
        body = change(text)
        assert zlib.decompress(body, -15) == text
        return raw[:10] + body + struct.pack("<II", zlib.crc32(text), len(text))

    return changed


def repacked_sheet(change):
    """Change how a workbook holds its sheet."""

    def changed(raw):
        found, directory, count = bytearray(), bytearray(), 0
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            for part in archive.infolist():
                text, name, count = archive.read(part), part.filename.encode(), count + 1
                body = change(text) if part.filename == SHEET else deflated(text)
                told = struct.pack("<4H3L2H", 0, 8, 0, 31 | 1 << 5, part.CRC, len(body), len(text), len(name), 0)
                where = struct.pack("<3H2L", 0, 0, 0, part.external_attr, len(found))
                directory += b"PK\1\2" + bytes([20, part.create_system]) + struct.pack("<H", 20) + told + where + name
                found += b"PK\3\4" + struct.pack("<H", 20) + told + name + body
        end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(directory), len(found), 0)
        return bytes(found + directory + end)

    return changed


SECRET = b"name,illness\nEve,flu\n" * 20
ROOM = {
    "padding": (lambda text: padded(SECRET) + deflated(text), "belong to no block"),
    "one bit": (lambda text: bytes([0x80]) + IDLE[1:] + deflated(text), "belong to no block"),
    "last bits": (lambda text: stored(text) + b"\3\x80", "belong to no block"),
    "idle blocks": (lambda text: IDLE * 12 + deflated(text), "more blocks"),
    "a table": (lambda text: bits(*tabled(False), (0, 3)) + IDLE[1:] + deflated(text), "hold no text"),
    "a last table": (lambda text: stored(text) + bits(*tabled(True)), "hold no text"),
    "tiny blocks": (lambda text: stored(text, 20) + b"\3\0", "more blocks"),
    "long repeats": (lambda text: stored(text[:-9]) + with_a_long_table(text[-9:]), "longer than their text"),
}


def stored(text, most=60_000):
    """Blocks that store text, none of them the last one."""
    pieces = [text[at : at + most] for at in range(0, len(text), most)]
    return b"".join(b"\0" + struct.pack("<HH", len(piece), len(piece) ^ 0xFFFF) + piece for piece in pieces)


def with_a_long_table(text):
    """A block with a code of eight or nine bits for each letter, and a table that says so of each."""
    # the lengths of codes have codes of their own: one bit for 1, two bits for 8 and 9
    lengths = [{4: 2, 6: 2, 17: 1}.get(place, 0) for place in range(18)]
    head = [(1, 1), (2, 2), (0, 5), (0, 5), (14, 4), *((length, 3) for length in lengths)]
    table = [(0b01, 2)] * 255 + [(0b11, 2)] * 2 + [(0, 1)]
    letters = [(int(f"{one:08b}"[::-1], 2), 8) for one in text]
    return bits(*head, *table, *letters, (0b111111111, 9))


@pytest.mark.parametrize("kind", ROOM)
def test_a_stream_of_deflate_has_no_room_for_more_than_its_text(tmp_path, kind):
    change, match = ROOM[kind]
    path = made(tmp_path, "r.csv.gz")
    rewritten(path, repacked_gzip(change)(path.read_bytes()))
    is_found(path, match)
    path = made(tmp_path, "r.xlsx")
    raw = path.read_bytes()
    rewritten(path, repacked_sheet(deflated)(raw))
    assert sudare.audit(path, rules()).passed
    rewritten(path, repacked_sheet(change)(raw))
    is_found(path, "bytes besides")


def texts_to_pack():
    draw = random.Random(5)
    words = b"".join(b"%d,[20, 30],%s\n" % (draw.getrandbits(20), draw.choice([b"flu", b"cold"])) for _ in range(9_000))
    noise = draw.randbytes(70_000)
    return [b"", b"a,b\n1,2\n", words[:5_000], words, noise, noise.hex().encode(), noise + words, b"x" * 700_000]


@pytest.mark.parametrize("level", range(10))
def test_streams_by_zlib_have_no_room(level):
    for text in texts_to_pack():
        for effort in (7, 8, 9):
            raw = deflated(text, level, effort)
            check_blocks(io.BytesIO(b"-" + raw + bytes(8)), 1, 1 + len(raw), len(text))
            with pytest.raises(BlockError):
                check_blocks(io.BytesIO(b"-" + raw + bytes(8)), 1, 2 + len(raw), len(text))


@pytest.mark.parametrize("level", range(10))
def test_members_of_gzip_by_python_are_read(tmp_path, level):
    """Its text files end with an empty block, because they are flushed before they are closed."""
    path = tmp_path / "r.csv.gz"
    for text in texts_to_pack():
        path.write_bytes(gzip.compress(text, level, mtime=0))
        with plain_copy(path, ".gz", "latin-1", None) as plain:
            assert plain.read_bytes().decode("utf-8") == text.decode("latin-1")
    with (
        gzip.GzipFile("", "wb", level, path.open("wb"), mtime=0) as packed,
        io.TextIOWrapper(packed, "latin-1", newline="") as file,
    ):
        file.writelines(text.decode("latin-1") for text in texts_to_pack())
    with plain_copy(path, ".gz", "latin-1", None) as plain:
        assert plain.read_bytes().decode("utf-8") == b"".join(texts_to_pack()).decode("latin-1")


@pytest.mark.skipif(shutil.which("gzip") is None, reason="there is no gzip")
@pytest.mark.parametrize("level", range(1, 10))
def test_members_by_gzip_itself_are_read(tmp_path, level):
    for place, text in enumerate(texts_to_pack()):
        path = tmp_path / f"{place}.csv.gz"
        path.write_bytes(
            subprocess.run(["gzip", "-n", f"-{level}"], input=text, capture_output=True, check=True).stdout
        )
        with plain_copy(path, ".gz", "latin-1", None) as plain:
            assert plain.read_bytes().decode("utf-8") == text.decode("latin-1")


def test_frames_by_other_writers_of_zstandard_are_read(tmp_path):
    """Large blocks, one that repeats earlier text, an empty last block, and blocks of one repeated byte."""
    draw = random.Random(5)
    lines = b"".join(b"%d,%d\n" % (draw.getrandbits(30), draw.getrandbits(30)) for _ in range(20_000))
    for text in (lines, lines * 2, b"a\n" * 500_000, b"x" * 300_000, b"a,b\n1,2\n"):
        for level in (-3, 1, 3, 9, 19):
            packed = pa.Codec("zstd", level).compress(text, asbytes=True)  # with its size in the header
            path = tmp_path / "r.csv.zst"
            path.write_bytes(packed)
            with plain_copy(path, ".zst", "utf-8", None) as plain:
                assert plain.read_bytes() == text
            with path.open("wb") as file, pa.CompressedOutputStream(file, "zstd") as stream:
                for start in range(0, len(text), 7_001):
                    stream.write(text[start : start + 7_001])
            with plain_copy(path, ".zst", "utf-8", None) as plain:
                assert plain.read_bytes() == text
            path.write_bytes(path.read_bytes()[:-1])
            with pytest.raises(DataError), plain_copy(path, ".zst", "utf-8", None):
                pass


def test_a_plain_copy_is_swept_away_after_its_process_was_killed(tmp_path):
    """The copy of a killed audit goes with the next one that copies to the same place."""
    made(tmp_path, "r.csv.gz")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    code = (
        "import sys, pathlib, time\n"
        "from sudare.audits.plain_copies import plain_copy\n"
        "with plain_copy(pathlib.Path(sys.argv[1]), '.gz', 'utf-8', pathlib.Path(sys.argv[2])) as plain:\n"
        "    print(plain, flush=True)\n"
        "    time.sleep(600)\n"
    )
    arguments = [sys.executable, "-c", code, str(tmp_path / "r.csv.gz"), str(scratch)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        left = Path(process.stdout.readline().strip())
        with plain_copy(tmp_path / "r.csv.gz", ".gz", "utf-8", scratch):
            assert left.is_file()  # it is in use
        process.kill()
    assert left.is_file()
    with plain_copy(tmp_path / "r.csv.gz", ".gz", "utf-8", scratch) as plain:
        assert list(scratch.iterdir()) == [plain.parent]
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        (b";1,25;", b";1.25;", "not written with a decimal comma"),
        (b"\xef\xbb\xbf", b"", "lacks a byte order mark"),
        (b";", b"|", "another delimiter"),
    ],
)
def test_another_layout_than_the_certificate_says_is_found(tmp_path, old, new, match):
    path = made(tmp_path, "r.csv", excel="de")
    raw = path.read_bytes()
    if old == b";":
        raw = raw.replace(b'"[', b"[").replace(b']"', b"]").replace(b"; ", b": ")
    assert old in raw
    rewritten(path, raw.replace(old, new))
    is_found(path, match, excel="de")
    certificate_path(path).unlink()
    is_found(path, match, excel="de")


@pytest.mark.parametrize(
    "other", ["+2,5", "2,5 ", "\uff12,5", "2,5\u200b", "\u20132,5", "\u22122,5", "1.002,5", "1 002,5", "'+2,5", "2,"]
)
def test_spellings_of_a_number_with_a_comma_are_no_two_values(tmp_path, other):
    """Nobody wrote a certificate; before they were folded, they counted as different."""
    path = tmp_path / "r.csv"
    policy = {
        "columns": {"age": {"role": "quasi"}, "d": {"role": "sensitive"}},
        "require": [{"model": "k-anonymity", "k": 4}, {"model": "l-diversity", "l": 2, "column": "d"}],
        "release": {"excel": "de"},
    }

    def audited(*values):
        path.write_text("\ufeffage;d\n" + "".join(f"34;{value}\n" for value in values * 2), "utf-8")
        return sudare.audit(path, policy)

    assert audited("2,5", "3,5").passed
    assert not audited("2,5", "2,50").passed
    with pytest.raises(DataError, match="column 'd' has 2 cells with numbers that are not spelled as they have to be"):
        audited("2,5", other)


@pytest.mark.parametrize(
    ("key", "value", "match"),
    [
        ("decimal", ".", "not the one that the policy asks for"),
        ("delimiter", ",", "another delimiter"),
        ("bom", False, "has a byte order mark"),
        ("numbers", ["age"], "column 'income' has 40 cells with a decimal comma"),
        ("numbers", ["age", "income", "x"], "not the one|not in the release"),
        ("encoding", "utf-16", "not written as one writes a layout"),
        (None, None, "is missing"),
    ],
)
def test_a_certificate_with_another_layout_is_found(tmp_path, key, value, match):
    path = made(tmp_path, "r.csv", excel="de")

    def change(facts):
        if key is None:
            del facts["layout"]
        else:
            facts["layout"][key] = value

    rewritten(path, path.read_bytes(), change)
    is_found(path, match, excel="de")


def test_figures_that_are_too_large_for_a_float_are_wrong(tmp_path):
    path = made(tmp_path, "r.jsonl")

    def change(facts):
        facts["loss"] = dict.fromkeys(facts["loss"], 10**400)

    rewritten(path, path.read_bytes(), change)
    is_found(path, "loss")


def test_text_in_another_encoding_is_written_in_one_way(tmp_path):
    path, release = tmp_path / "r.csv", {"encoding": "cp932"}
    table = pa.table({"town": ["∵ 東京"] * 4})
    policy = {"columns": {"town": {"role": "quasi"}}, "require": [{"model": "k-anonymity", "k": 4}], "release": release}
    sudare.anonymize(table, policy, out=path)
    assert sudare.audit(path, policy).passed
    raw = path.read_bytes()
    assert b"\x81\xe6" in raw
    path.write_bytes(raw.replace(b"\x81\xe6", b"\x87\x9a", 1))  # the same character
    with pytest.raises(DataError, match="is not written as cp932 writes its text"):
        sudare.audit(path, policy)


def ordinary(name):
    """Return how the parts of a workbook are packed."""
    part = zipfile.ZipInfo(name, (1980, 1, 31, 0, 0, 0))
    part.compress_type, part.external_attr = zipfile.ZIP_DEFLATED, 0o100600 << 16
    return part


def repacked(raw, change=lambda name, text: text, *, more=(), comment=b"", extra=b""):
    """Return the parts of a workbook in a new archive."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made_new:
        for part in source.infolist():
            part.extra = extra
            made_new.writestr(part, change(part.filename, source.read(part)))
        for name, text in more:
            made_new.writestr(ordinary(name), text)
        made_new.comment = comment
    return target.getvalue()


SHEET, BOOK = "xl/worksheets/sheet1.xml", "xl/workbook.xml"


def in_part(part, old, new):
    def change(name, text):
        assert name != part or old in text, (part, old)
        return text.replace(old, new, 1) if name == part else text

    return lambda raw: repacked(raw, change)


def with_the_date(number):
    """Return what writes another number into the first cell that is a date."""

    def change(name, text):
        return re.sub(rb' s="2"><v>[0-9]+<', b' s="2"><v>' + number + b"<", text, count=1) if name == SHEET else text

    return change


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda raw: repacked(raw, more=[("xl/secret.bin", b"x")]), "other parts"),
        (lambda raw: repacked(raw, more=[("xl/comments1.xml", b"<x/>")]), "other parts"),
        (lambda raw: repacked(raw, comment=b"secret"), "bytes besides"),
        (lambda raw: repacked(raw, extra=b"\x34\x12\2\0ab"), "bytes besides"),
        (lambda raw: b"secret" + raw, "bytes besides|no workbook"),
        (lambda raw: raw + b"secret", "bytes besides|no workbook"),
        (in_part(BOOK, b'name="release" ', b'name="release" state="hidden" '), "more than a plain table"),
        (in_part("docProps/core.xml", b"<dc:creator>", b"<dc:creator>Eve"), "more than a plain table"),
        (in_part("xl/theme/theme1.xml", b"Office", b"Ofice"), "more than a plain table"),
        (
            in_part(SHEET, b"<sheetData>", b'<cols><col min="1" max="1" hidden="1"/></cols><sheetData>'),
            "more in its sheet",
        ),
        (in_part(SHEET, b'<row r="3">', b'<row r="3" hidden="1">'), "more in its sheet"),
        (in_part(SHEET, b"<v>", b"<f>1+1</f><v>"), "more in its sheet"),
        (in_part(SHEET, b"</sheetData>", b"</sheetData><hyperlinks/>"), "more in its sheet"),
        (in_part(SHEET, b"</row>", b"</row><!-- secret -->"), "more in its sheet"),
        (in_part(SHEET, b"<v>0.25</v>", b"<v>0.250</v>"), "more in its sheet"),
        (in_part(SHEET, b"A1:D41", b"A1:D42"), "more in its sheet"),
        (in_part(SHEET, b"<v>0.25</v>", b"<v>INF</v>"), "more in its sheet"),
        (lambda raw: repacked(raw, with_the_date(b"1E+300")), "more in its sheet"),
        (lambda raw: repacked(raw, with_the_date(b"-INF")), "more in its sheet"),
        (lambda raw: repacked(raw, with_the_date(b"-1000000")), "more in its sheet"),
    ],
)
def test_nothing_is_hidden_in_a_workbook(tmp_path, change, match):
    path = made(tmp_path, "r.xlsx")
    rewritten(path, change(path.read_bytes()))
    is_found(path, match)


def test_a_workbook_that_was_packed_anew_is_the_same_release(tmp_path):
    path = made(tmp_path, "r.xlsx")
    rewritten(path, repacked(path.read_bytes()))
    assert sudare.audit(path, rules()).passed


HEADERS = {
    "version": (4, 2),
    "flags": (6, 2),
    "time": (10, 2),
    "date": (12, 2),
    "sum": (14, 4),
    "size": (22, 4),
}
ENTRIES = {"made by": (4, 2), "version": (6, 2), "time": (12, 2), "disk": (34, 2), "attributes": (36, 6)}


@pytest.mark.parametrize(("mark", "field"), [*((b"PK\3\4", f) for f in HEADERS), *((b"PK\1\2", f) for f in ENTRIES)])
def test_no_field_of_a_header_says_more(tmp_path, mark, field):
    path = made(tmp_path, "r.xlsx")
    at, length = (HEADERS if mark == b"PK\3\4" else ENTRIES)[field]
    raw = path.read_bytes()
    start = raw.rindex(mark) + at
    for change in (b"secret"[:length], bytes([raw[start] ^ 1]) + raw[start + 1 : start + length]):
        rewritten(path, raw[:start] + change + raw[start + length :])
        is_found(path, "bytes besides|no workbook")
    rewritten(path, raw)
    assert sudare.audit(path, rules()).passed


def test_a_part_stands_in_a_workbook_once_and_in_its_place(tmp_path):
    path = made(tmp_path, "r.xlsx")
    raw = path.read_bytes()
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = repacked(raw, more=[(BOOK, b"secret")])
    with zipfile.ZipFile(io.BytesIO(raw)) as source:
        parts = {part: source.read(part) for part in source.infolist()}
    for first in (True, False):
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for part, text in parts.items() if first else reversed(parts.items()):
                if first and part.filename == BOOK:
                    archive.writestr(ordinary(part.filename), b"secret")
                archive.writestr(ordinary(part.filename), text)
        rewritten(path, target.getvalue())
        is_found(path, "other parts")
    rewritten(path, twice)
    is_found(path, "other parts|more than a plain table")


@pytest.mark.parametrize("part", [SHEET, BOOK])
def test_damaged_parts_of_a_workbook_are_no_tracebacks(tmp_path, part):
    path = made(tmp_path, "r.xlsx")
    raw = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        found = archive.getinfo(part)
    crc = found.CRC.to_bytes(4, "little")
    rewritten(path, raw.replace(crc, b"abcd"))
    is_found(path, "no workbook|damaged")
    body = found.header_offset + 30 + len(part) + found.compress_size // 2
    for other in (
        raw[:body] + bytes([raw[body] ^ 85]) + raw[body + 1 :],
        raw.replace(b"\x14\0\0\0\x08\0", b"\xff\0\0\0\x63\0"),
    ):
        rewritten(path, other)
        is_found(path, "no workbook|bytes besides|damaged|UTF-8|sheet")


def test_bytes_behind_the_stream_of_a_part_are_found(tmp_path):
    path = made(tmp_path, "r.xlsx")
    raw = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        last = archive.infolist()[-1]
        directory = archive.start_dir
    longer = raw[:directory] + b"secret" + raw[directory:]
    size = last.compress_size.to_bytes(4, "little")
    grown = (last.compress_size + 6).to_bytes(4, "little")
    crc = last.CRC.to_bytes(4, "little")
    longer = longer.replace(crc + size, crc + grown)
    longer = longer[:-6] + (directory + 6).to_bytes(4, "little") + longer[-2:]
    with zipfile.ZipFile(io.BytesIO(longer)) as archive:
        assert archive.testzip() is None
    rewritten(path, longer)
    is_found(path, "bytes besides")
    assert zlib.crc32(raw) != zlib.crc32(longer)


@pytest.mark.parametrize(
    ("lines", "match"),
    [
        ('{"a":"x","a":"x"}', "more than one column"),
        ('{"a":"x"}\n{"a":"x" }', "blanks"),
        ('{"a":"x"}\n{"a": "x"}', "blanks"),
        ('{"a":"x"}\n\n{"a":"x"}', "no object"),
        ('{"a":"x"}\n{"b":"x"}', "other keys"),
        ('{"a":"x","b":1}\n{"b":1,"a":"x"}', "other keys"),
        ('{"a":"ö"}\n{"a":"\\u00f6"}', "another manner"),
        ('{"a":"x"}\n{"a":"\\u0078"}', "another manner"),
        ('{"a":NaN}', "no object"),
        ('{"a":{"b":1}}', "objects"),
        ('{"a":[[1]]}', "objects"),
        ('{"a":1}\n{"a":"1"}', "several types"),
        ("[1]", "no object"),
        ("[" * 100_000, "lists in lists|no object"),
        ("[" * 2_000_000, "lists in lists|no object"),
        ('{"a":' * 2_000_000, "lists in lists|no object"),
        ('{"a":' + "[" * 900 + "]" * 900 + "}", "lists in lists|objects or lists"),
        ('{}\n{}\n{"a":"x"}\n{"a":"x"}', "has no keys"),
        ('{"a":"x"}\n{}', "has no keys"),
        ("{}", "has no keys"),
        ('{"a":"\\ud800"}', "half of a character"),
        ('{"a":["x","\\udfff"]}', "half of a character"),
        ('{"\\ud800":"x"}', "half of a character"),
    ],
)
def test_lines_of_json_are_written_in_one_way(tmp_path, lines, match):
    path = tmp_path / "r.jsonl"
    path.write_text(lines, encoding="utf-8")
    policy = Policy.parse({"columns": {"a": {"role": "quasi"}}, "require": [{"model": "k-anonymity", "k": 2}]})
    with pytest.raises(DataError, match=match):
        audit_release(path, policy)


@pytest.mark.parametrize(
    "lines",
    [
        '{"a":"ö/","b":1.5,"c":null}\n{"a":"x\\n","b":2,"c":true}\n',
        '{"a": "\\u00f6/", "b": 1.5, "c": null}\n{"a": "x", "b": 2, "c": true}',
        '{"a":"\\u00f6\\/","b":1.5,"c":null}\n{"a":"x","b":2,"c":false}\n',
    ],
)
def test_lines_by_other_programs_are_read(tmp_path, lines):
    path = tmp_path / "r.jsonl"
    path.write_text(lines, encoding="utf-8")
    table = json_lines_table(path)
    assert table.schema.types == [pa.string(), pa.float64(), pa.bool_()]
    assert table.column("a")[0].as_py() == "ö/"


def test_numbers_that_say_more_than_they_are_worth_stay_apart(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"a":1.50}\n{"a":1.5}\n')
    assert json_lines_table(path).column("a").to_pylist() == ["1.50", "1.5"]
