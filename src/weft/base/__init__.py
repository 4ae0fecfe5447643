"""Foundations that all other folders use and that know nothing about cloth.

Read ``errors`` first: every message to a user is a ``WeftError`` that says what is wrong, what was
found, what is expected, where, and the next step. ``units`` converts text with a unit to SI,
``settings`` declares fields of frozen dataclasses with unit and bounds, ``runtime_types`` checks
arguments of public functions, ``arrays`` names the shapes and units of arrays in signatures, and
``trees`` the contents of files.
``keyframes`` are numbers that change in time, ``curve`` is a measured stress-strain curve.
``yaml_lines`` reads YAML with line numbers, ``input_file`` opens files of users. ``machine``,
``timing`` and ``terminal`` describe the computer, measure phases and print.
"""
