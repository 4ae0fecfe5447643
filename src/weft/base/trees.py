"""Types of the trees that files hold; what a tree contains is known when its reader checks it."""

from collections.abc import Mapping
from typing import Any

Yaml = Any  # None, a truth value, a number, text, a list of such values, or a ``YamlMapping``
YamlMapping = Mapping[str, Yaml]
Json = dict[str, Any]  # a tree that json.dump can write
