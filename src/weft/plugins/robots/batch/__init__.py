"""Many small independent cloths that are stepped frame by frame: ``weft.batch``.

Each cloth (a world) has the same result as alone, bit by bit (``docs/guides/batch.md``). In the
order of reading:

- ``batch``: the public function and class; ``actions`` checks what callers ask for.
- ``world``: one scene of a batch, with its state and the vertices that are held.
- ``worker_processes`` and ``worker``: worlds divided among processes.
- ``folders``: the frames of every world in a run folder of its own.
"""
