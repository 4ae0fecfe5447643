"""Checks of the arguments of public functions and classes against their annotations.

The whole mechanism is the decorator ``@checked(SceneError)`` on a function or a class. At the first
call the annotations are compiled into one pydantic validator. Every call binds the arguments,
checks them, and converts text with a unit to SI and lists to arrays; the first wrong argument
raises one weft error that names it. Arguments of the right kind are passed on unchanged: no array
is copied, and nothing is truncated, rounded or broadcast.

An annotation may carry an ``ArrayOf`` (``weft.base.arrays`` has the aliases) or a ``Setting``
(``Annotated[float, Setting("", "s", above=0)]``); fields of settings carry theirs already.

``checked`` is the decorator, ``validators`` has the checks of each kind of argument, ``messages``
the texts of errors.
"""

from weft.base.runtime_types.checked import check_value, checked, is_checked

__all__ = ["check_value", "checked", "is_checked"]
