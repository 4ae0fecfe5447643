"""Executors: execution of samples by local processes, a Dask cluster or Slurm.

``base`` has the interface of three methods, and the loop that submits samples and collects their
results; ``processes`` (``concurrent.futures``), ``dask`` (``distributed``) and ``slurm``
(``submitit``) implement it. Executors only distribute work: the progress of a sweep is read from
the folders of its samples.
"""
