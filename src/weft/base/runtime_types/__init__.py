"""Check the arguments of public functions and classes against their annotations.

``@checked(SceneError)`` on a function or a class is the whole mechanism. At the first call the
annotations become one pydantic validator; at every call it binds the arguments, checks them, turns
text with a unit into SI and lists into arrays, and the first thing that is wrong becomes one weft
error that names the argument. What is of the right kind already is passed on as it is: no array is
copied, and nothing is cut off, rounded or spread over a shape.

An annotation may carry an ``ArrayOf`` (``weft.base.arrays`` has the aliases) or a ``Setting``
(``Annotated[float, Setting("", "s", above=0)]``); fields of settings bring theirs along.

``checked`` is the decorator, ``validators`` has the kinds of arguments, ``messages`` the texts of
errors.
"""

from weft.base.runtime_types.checked import check_value, checked, is_checked

__all__ = ["check_value", "checked", "is_checked"]
