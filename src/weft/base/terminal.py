"""Output in a terminal: text without markup, and a cursor that is always restored.

Every line, table and progress bar uses this module, because names of cloths, files and samples are
text of users, in which rich would otherwise interpret ``[left]`` as markup and ``:B:`` as an emoji.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console as Console  # a type that others name by way of here


def new_console(*, error: bool = False, **options: Any) -> Any:
    """Return a rich ``Console`` that prints text unchanged.

    In a notebook a bar is one line of text without colors, which is replaced: rich's own display
    of notebooks needs the package ipywidgets.

    Args:
        error: write to standard error instead of standard output.
        **options: more arguments of ``Console``.
    """
    from rich.console import Console

    plain = {"stderr": error, "highlight": False, "markup": False, "emoji": False, **options}
    made = Console(**plain)
    if not made.is_jupyter:
        return made
    return Console(**plain, force_jupyter=False, force_terminal=True, color_system=None)


def text_column(template: str, **options: Any) -> Any:
    """Return a column of a progress bar that shows text unchanged.

    Args:
        template: such as ``{task.description}``.
        **options: more arguments of rich's ``TextColumn``.
    """
    from rich.progress import TextColumn

    return TextColumn(template, markup=False, **options)


@contextmanager
def bar(*columns: Any, console: "Console | None" = None, **options: Any) -> Iterator[Any]:
    """Show a progress bar while the ``with`` block runs; afterwards the cursor is visible.

    Args:
        *columns: columns of rich; none: description, bar, percentage and time left.
        console: a rich ``Console``; None: one on standard error.
        **options: more arguments of rich's ``Progress``.
    """
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

    screen = console or new_console(error=True)
    task = text_column("{task.description}")
    usual = (task, BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with visible_cursor(screen), Progress(*columns or usual, console=screen, **options) as shown:
        yield shown


@contextmanager
def visible_cursor(screen: Any) -> Iterator[None]:
    """Show the cursor when the ``with`` block ends, however it ends.

    rich hides the cursor before its own ``with`` block begins; an interrupt between the two would
    leave it hidden.
    """
    try:
        yield
    finally:
        screen.show_cursor()
