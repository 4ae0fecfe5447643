"""What killed writers leave is swept by the next one; what somebody still writes is not."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from weft.io.files import (
    ABANDONED_AFTER,
    atomic_path,
    atomic_write,
    list_abandoned,
    temporary_name,
)

pytestmark = pytest.mark.quick

WAYS = (atomic_path, atomic_write)
KILLED = """
import os, sys
from weft.io.files import {way}
with {way}(sys.argv[1]) as new:
    open(new, "wb").write(b"half") if isinstance(new, os.PathLike) else new.write(b"half")
    os._exit(9)
"""


def write(way, path):
    with way(path) as new:
        new.write_bytes(b"whole") if isinstance(new, os.PathLike) else new.write(b"whole")


@pytest.mark.parametrize("way", WAYS)
def test_what_a_killed_writer_left_is_swept_later(tmp_path, way):
    path = tmp_path / "cloth.usdc"
    told = [sys.executable, "-c", KILLED.format(way=way.__name__), str(path)]
    assert subprocess.run(told, check=False).returncode == 9
    (left,) = tmp_path.glob(".*")
    write(way, path)
    assert left.exists()  # young: another machine's process may be at it
    old = time.time() - ABANDONED_AFTER - 1
    os.utime(left, (old, old))
    write(way, tmp_path / "other.usdc")
    assert left.exists()  # of another file
    write(way, path)
    assert not left.exists() and path.read_bytes() == b"whole"


def test_what_is_being_written_stays():
    mine = temporary_name(Path("a.usdc"))
    gone = mine.replace(f".{os.getpid():08x}", f".{2**31 - 2:08x}")
    other = gone.replace(".a.", ".a.b.")
    names = [mine, gone, other, "a.usdc", ".a.b.usdc"]
    assert list_abandoned(names, Path("a.usdc")) == [gone]
    assert list_abandoned(names) == [gone, other]


@pytest.mark.parametrize("way", WAYS)
def test_names_of_many_bytes(tmp_path, way):
    path = tmp_path / ("\u5e03" * 82 + ".usdc")  # 251 bytes, where 255 are allowed
    write(way, path)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
