"""Scenes: in Python (``scene.scene``) and as typed YAML files (``schema``, ``file``, ``build``)."""
