"""Engines: execution of samples by local processes, a Dask cluster or Slurm.

Engines only distribute work; the progress is read from the folders of the samples. ``base`` has the
interface; ``processes``, ``dask`` and ``slurm`` implement it.
"""
