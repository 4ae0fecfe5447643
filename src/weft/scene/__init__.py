"""Scenes, in Python and as YAML files.

Read ``scene`` first: the frozen dataclass ``Scene`` says what is simulated, and builds the model
that integrators take. ``build_energies`` builds its energies: ``elastic`` those of the cloth,
``regions`` those between regions of different fabrics, ``air`` those of the wind; ``spline_pins``
converts pins. ``keyframed_numbers`` and ``changing_scene`` handle numbers with keyframes.

A scene file is read in this order: ``file`` (text to tree, with line numbers), ``file_keyframes``
(keyframes), ``schema``, derived from ``Scene``, with the modules ``*_schema`` of blocks that a file
writes in another form, ``build`` (tree to ``Scene``), with ``garments`` and ``outfit`` for what is
sewn. ``check`` and ``explain`` are behind the commands of these names, ``identity`` compares
scenes.
"""
