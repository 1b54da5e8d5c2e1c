"""What the checks share: a line of JSON for each, and what must be refused."""

import contextlib
import io
import json
import traceback
import warnings

warnings.formatwarning = lambda message, kind, *_: f"{kind.__name__}: {message}\n"


def check(work):
    """Runs the check at once, in the order of the file; hides the links that the client prints."""
    outcome = {"check": work.__name__}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            work()
    except Exception:
        outcome["error"] = traceback.format_exc()
    print(json.dumps(outcome), flush=True)


def refused(kind, call):
    """Raises unless the call raises an error of this kind."""
    try:
        call()
    except kind:
        return
    raise AssertionError(f"not refused with {kind.__name__}")
