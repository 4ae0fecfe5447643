"""Execution on the CPU: launches, threads, recorded launches, native functions.

- ``launching``: launches, shared by several threads where that is faster. On CUDA the same
  functions call ``wp.launch``.
- ``thread_pool``: the threads that share launches.
- ``recorded_launches``: sequences of launches that one native call replays; on CUDA, one graph.
- ``warp_private``: everything that uses private parts of Warp.
- ``native_code``: functions in C++ (``native/*.h``) that kernels call.
"""
