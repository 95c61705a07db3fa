"""Why a command cannot go on, and what a refusal says."""

from typing import Any


class FlashError(Exception):
    """The command cannot go on. code: how it exits; advice: what to do now."""

    def __init__(self, code: int, what: str, advice: str) -> None:
        super().__init__(what)
        self.code = code
        self.advice = advice


def reason(answer: Any) -> str:
    """A refusal in words."""
    words = getattr(answer, "rsn", None)
    if words:
        return str(words)
    code = answer.err.rc if hasattr(answer, "err") else answer.rc
    return f"{getattr(code, 'name', code)} ({int(code)})"
