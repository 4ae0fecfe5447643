"""Trial reading of a USD file: python usd_probe.py FILE BYTES SECONDS MESHES.

USD's reader is native code that trusts the counts in a damaged file. In this separate process it
can take only a limited amount of memory and processor time. Exit status 0: the file can be read;
otherwise the last line of standard error says why not. This file imports nothing of weft, so that
it starts quickly.
"""

import os
import sys


def main(path: str, memory: int, seconds: int, most_meshes: int) -> None:
    """Read the arrays of all meshes at their first and last samples, as a mesh reader does.

    Args:
        path: the file.
        memory: [bytes] limit.
        seconds: [s] limit of processor time.
        most_meshes: largest number of meshes.
    """
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):  # no such limits: the caller limits the time
        pass
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(path)
    seen = Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies())
    meshes = (p for p in seen if p.IsA(UsdGeom.Mesh))
    for count, prim in enumerate(meshes, start=1):
        if count > most_meshes:
            raise ValueError(f"more than {most_meshes} meshes, including instances")
        for attribute in prim.GetAttributes():
            codes = attribute.GetTimeSamples()
            for code in (codes[0], codes[-1]) if codes else (Usd.TimeCode.Default(),):
                attribute.Get(code)


if __name__ == "__main__":
    try:
        main(sys.argv[1], *map(int, sys.argv[2:5]))
    except MemoryError:
        sys.stderr.write("\nmore memory than its size needs\n")
        sys.stderr.flush()
        os._exit(1)
    except Exception as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        sys.stderr.write(f"\n{said[-1].rpartition(' : ')[2]}\n")
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)
