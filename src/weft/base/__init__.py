"""Foundations that every other chapter uses and that know nothing of cloth.

Read ``errors`` first: every message to a user is a ``WeftError`` with what, got, expected, where
and the next step. ``units`` turns text with a unit into SI, ``settings`` declares fields of frozen
dataclasses with unit and bounds, ``runtime_types`` checks arguments of public functions, and
``arrays`` names the shapes and units of arrays in signatures. ``keyframes`` holds numbers that
change in time, ``curve`` measured stress-strain curves. ``yaml_lines`` reads YAML with line
numbers, ``input_file`` opens files of users. ``machine``, ``timing`` and ``terminal``
describe the computer, measure phases and print.
"""
