"""Scenes, in Python and as YAML files.

Read ``scene`` first: the frozen dataclass ``Scene`` says what is simulated, and builds nothing.
``prepare`` builds what steps need from it, a ``Simulation``: model, start and integrator.
``build_model`` builds the model, and ``build_energies`` its energies: ``elastic`` those of the
cloth, ``regions`` those between regions of different fabrics, ``air`` those of the wind;
``membrane_law`` finds laws, ``points`` converts pins, rigid bodies and attachments.
``keyframed_numbers`` and ``changing_scene`` handle numbers with keyframes, ``changes`` other values
from a time on.

A scene file is read in this order: ``file`` (text to tree, with line numbers), ``file_keyframes``
(keyframes), ``schema``, derived from ``Scene``, with the modules ``*_schema`` of blocks that a file
writes in another form, ``build`` (tree to ``Scene``). ``explain`` is behind the command of this
name, ``identity`` compares scenes.
"""
