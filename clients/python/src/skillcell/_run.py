"""One call of a folder: ``skillcell run`` with the parameters on its input and the outcome on its output."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from concurrent.futures import Future
from typing import Any, List, Mapping, Optional

from ._errors import SkillcellConnectionError, SkillError, error_from
from ._types import Outcome


class RunProcess:
    """A call that has not ended."""

    def __init__(
        self, command: List[str], params: Mapping[str, Any], *, cwd: str, env: Optional[Mapping[str, str]]
    ) -> None:
        self.future: Future[Outcome] = Future()
        self._text = json.dumps(dict(params), allow_nan=False).encode("utf-8")
        self._was_cancelled = False
        try:
            self._process = subprocess.Popen(
                command,
                cwd=cwd,
                env=dict(env) if env is not None else None,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise SkillcellConnectionError(f"{command[0]!r} could not be started: {error}") from error
        threading.Thread(target=self._wait, name="skillcell-run", daemon=True).start()

    def cancel(self) -> None:
        """As Ctrl-C does: the cell is killed, and the call has a receipt."""
        self._was_cancelled = True
        self._process.send_signal(signal.SIGINT)

    def _wait(self) -> None:
        stdout, stderr = self._process.communicate(self._text)
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self._outcome(stdout, stderr))
        except Exception as error:
            self.future.set_exception(error)

    def _outcome(self, stdout: bytes, stderr: bytes) -> Outcome:
        try:
            body = json.loads(stdout)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise self._failed(stderr.decode("utf-8", "replace").strip())
        if body.get("ok") is not True:
            raise error_from(body)
        return Outcome.of(body)

    def _failed(self, text: str) -> Exception:
        """A refusal before there is a call is printed for people."""
        if self._was_cancelled:
            return SkillError("cancelled", "The call was given up by this program")
        for at, line in enumerate(text.split("\n")):
            if line.startswith("error[") and "]: " in line:
                code, _, message = line[len("error[") :].partition("]: ")
                fix = "".join(rest[5:] for rest in text.split("\n")[at + 1 :] if rest.startswith("fix: "))
                return error_from({"error": {"code": code, "message": message, "fix": fix}})
        return SkillcellConnectionError(f"skillcell run ended with code {self._process.returncode}: {text[-2000:]}")
