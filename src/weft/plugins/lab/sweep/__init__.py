"""Parameter sweeps: simulations of one scene with many values of its fields.

Read in this order:

- ``file``, ``varied``, ``design``: the sweep file, and the values that its samples take.
- ``plan``, ``folder``: the list of samples, and the folder of the sweep with one folder per sample.
- ``sample``, ``status``, ``faults``: the procedure that runs one sample and writes its status.
- ``runner``, ``tasks``, ``worker``: distribution of samples to the workers of an executor;
  ``processes`` is the default executor.
- ``measures``, ``quality``, ``table``, ``pictures``: the evaluation of finished samples.
- ``dataset``: export of all samples as one data set.

The progress of a sweep is read from the folders of its samples alone. So any executor may stop at
any time, and another one can continue.
"""
