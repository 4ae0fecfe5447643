"""What weft shows in a terminal: text as it is, and a cursor that comes back.

Every line, table and progress bar goes through this module, because names of cloths, files and
samples are text of users: rich takes ``[left]`` for markup and ``:B:`` for an emoji unless it is
told not to.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def new_console(*, error: bool = False, **options: Any) -> Any:
    """Return a rich ``Console`` that prints text as it is.

    Args:
        error: on standard error; else on standard output.
        **options: more arguments of ``Console``.
    """
    from rich.console import Console

    return Console(stderr=error, highlight=False, markup=False, emoji=False, **options)


def text_column(template: str, **options: Any) -> Any:
    """Return a column of a progress bar that shows text as it is.

    Args:
        template: such as ``{task.description}``.
        **options: more arguments of rich's ``TextColumn``.
    """
    from rich.progress import TextColumn

    return TextColumn(template, markup=False, **options)


@contextmanager
def bar(*columns: Any, console: Any = None, **options: Any) -> Iterator[Any]:
    """Show a progress bar while the block runs; the cursor is visible afterwards.

    Args:
        *columns: of rich; none: description, bar, part and time left.
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
    """Show the cursor when the block ends, however it ends.

    rich hides it before its own ``with`` block begins; an interrupt between the two would leave it
    hidden.
    """
    try:
        yield
    finally:
        screen.show_cursor()
