"""Readers and writers of file formats, one or a few modules per format.

``weft.io`` lists the formats by suffix: ``arrays`` (npz, HDF5) and ``vtkhdf`` (both with
``hdf5_file``), ``gltf`` (writing, with ``gltf_buffer``), ``gltf_scene`` (reading, with
``gltf_read`` and ``gltf_animation``), ``point_cache`` (PC2), ``usd`` (writing), ``usd_skeleton``
(writing a skeleton and its skin), ``usd_read`` (reading, with ``usd_open``, ``usd_stage``,
``usd_preroll`` and ``usd_probe``).
"""
