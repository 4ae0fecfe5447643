"""``weft``: the entry point of the command line.

Ctrl-C is answered before anything else is imported: the commands, and the libraries that they need,
take half a second to load.
"""

import atexit
import os
import signal
import sys

TYPE_CHECKING = False  # of the module typing, which takes time to load
if TYPE_CHECKING:
    from types import FrameType

STOPPED = 130  # exit status of a command that Ctrl-C has ended
_IMPORTING = "<frozen importlib._bootstrap>"  # the file of frames that run while a module is loaded


def main() -> None:
    """Run a command. A mistake of the user is one message and exit status 2, a mistake of weft a
    line and status 70, Ctrl-C status 130; never a traceback.
    """
    before = signal.getsignal(signal.SIGINT)
    usual = before is signal.default_int_handler
    if usual:  # a background job of a shell ignores Ctrl-C
        signal.signal(signal.SIGINT, _interrupt)
    try:
        _run()
    except KeyboardInterrupt:
        _tell_stopped()
        sys.exit(STOPPED)
    finally:
        if usual:
            atexit.register(_end_quietly)  # the last one registered is the first one called
            signal.signal(signal.SIGINT, before)


def _run() -> None:
    """Run the command and name every error."""
    import gc
    import warnings

    # Importing makes many objects that stay: looking for garbage among them takes a fifth of it.
    gc.set_threshold(50_000, 20, 20)

    from weft.base.errors import WeftError
    from weft.cli.commands import app
    from weft.cli.options import say

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # characters that a terminal does not have
            stream.reconfigure(errors="backslashreplace")

    def show_warning(message: Warning | str, *_: object) -> None:
        say(f"warning: {message}", error=True)

    warnings.showwarning = show_warning  # type: ignore[assignment]
    try:
        app()
        sys.stdout.flush()
    except WeftError as error:
        say(f"error: {error}", error=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(1)
    except Exception as error:
        from weft.cli.crash import report

        sys.exit(report(error, sys.argv[1:]))


def _interrupt(number: int, frame: "FrameType | None") -> None:
    """Answer Ctrl-C: by ``KeyboardInterrupt``, or by the end of the process while it imports.

    An exception inside an import leaves a module half loaded, and libraries in C++ make another one
    of it. Whatever weft writes takes its place only when it is whole, so that nothing is lost.
    """
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTING:
            _tell_stopped()
            os._exit(STOPPED)
        frame = frame.f_back
    raise KeyboardInterrupt


def _tell_stopped() -> None:
    """Say on standard error that the command was stopped, and show the cursor again."""
    if sys.stderr.isatty():
        sys.stderr.write("\x1b[?25h")
    sys.stderr.write("stopped\n")
    sys.stderr.flush()


def _end_quietly() -> None:
    """Let Ctrl-C end a process that has nothing left to do."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
