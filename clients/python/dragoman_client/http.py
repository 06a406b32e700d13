"""Requests and event streams over the standard library's HTTP. Not here: what the routes mean (client.py)."""

from __future__ import annotations

import http.client
import json
import random
import time
from typing import Any, Callable, Iterator, Mapping, Optional
from urllib.parse import urlencode, urlsplit

from .errors import DragomanError

FIRST_WAIT_S = 0.25
LONGEST_WAIT_S = 10.0
#: Faults that another try cannot mend.
FINAL = frozenset(
    {
        "unauthorized",
        "forbidden",
        "forbidden_origin",
        "session_not_found",
        "task_not_found",
        "cursor_too_large",
        "log_changed",
        "data_damaged",
        "invalid_request",
    }
)
#: The daemon's word that nothing will come any more.
NOTHING_MORE = 204
#: The daemon sends a comment every 15 s: a stream that is silent for longer is dead.
SILENCE_S = 60.0


class Http:
    def __init__(self, url: str, token: Optional[str] = None, timeout: float = 60.0) -> None:
        self.url = url.rstrip("/")
        self._token = token
        self._timeout = timeout

    def request(
        self,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Any] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Any:
        """The answer as JSON; None when it has none."""
        connection, response = self.open(method, path, query, body, headers)
        try:
            text = response.read()
        finally:
            connection.close()
        if not text:
            return None
        try:
            return json.loads(text)
        except ValueError as error:
            raise DragomanError("bad_answer", f"{method} {path} did not answer with JSON.", response.status) from error

    def open(
        self,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Any] = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None,
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """The answer itself. The caller closes the connection."""
        address = urlsplit(self.url)
        kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        connection = kind(address.hostname or "", address.port, timeout=timeout or self._timeout)
        sent = {"dragoman-client": "sdk", **(headers or {})}
        if self._token is not None:
            sent["authorization"] = f"Bearer {self._token}"
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            sent["content-type"] = "application/json"
        try:
            connection.request(method, address.path + path + _search(query), data, sent)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise DragomanError("unreachable", f"No answer from {self.url}. Is the daemon running? Start it with `dragoman start`.") from error
        if 200 <= response.status < 300:
            return connection, response
        try:
            raise _problem(response)
        finally:
            connection.close()

    def stream(
        self,
        path: str,
        query: Optional[Mapping[str, Any]] = None,
        after: Optional[str] = None,
        is_last: Callable[[Any], bool] = lambda _: False,
    ) -> Iterator[tuple[str, Any]]:
        """Ids and JSON of an event stream: in order, each once, across lost connections and restarts of the daemon."""
        epoch: Optional[str] = None
        attempt = 0
        while True:
            try:
                headers = {"accept": "text/event-stream"}
                if after is not None:
                    headers["last-event-id"] = after if epoch is None or "@" in after else f"{after}@{epoch}"
                connection, response = self.open("GET", path, query, None, headers, SILENCE_S)
                try:
                    if response.status == NOTHING_MORE:
                        return
                    epoch = response.headers.get("dragoman-epoch") or epoch
                    for event_id, kind, data in _messages(response):
                        value = json.loads(data)
                        if kind == "problem":
                            raise DragomanError(value["code"], value["detail"], value["status"], value)
                        if event_id is None:
                            continue
                        attempt = 0
                        after = event_id
                        yield event_id, value
                        if is_last(value):
                            return
                finally:
                    connection.close()
            except DragomanError as error:
                if error.code in FINAL:
                    raise
            except (OSError, http.client.HTTPException):
                pass
            attempt += 1
            time.sleep(min(FIRST_WAIT_S * 2 ** (attempt - 1), LONGEST_WAIT_S) * (0.75 + random.random() / 2))


def _search(query: Optional[Mapping[str, Any]]) -> str:
    given = {name: _word(value) for name, value in (query or {}).items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(value) if isinstance(value, (list, tuple)) else str(value)


def _problem(response: http.client.HTTPResponse) -> DragomanError:
    text = response.read()
    try:
        problem = json.loads(text)
        return DragomanError(problem["code"], problem["detail"], response.status, problem)
    except (ValueError, KeyError, TypeError):
        shown = text[:200].decode(errors="replace")
        return DragomanError("bad_answer", f"The daemon answered {response.status}: {shown}", response.status)


def _messages(response: http.client.HTTPResponse) -> Iterator[tuple[Optional[str], Optional[str], str]]:
    """Id, event and data of each message. A message that is cut off is not one."""
    event_id: Optional[str] = None
    kind: Optional[str] = None
    data: list[str] = []
    for raw in response:
        line = raw.decode().rstrip("\n").rstrip("\r")
        if line == "":
            if data:
                yield event_id, kind, "\n".join(data)
            event_id, kind, data = None, None, []
            continue
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "data":
            data.append(value)
        elif field == "id":
            event_id = value
        elif field == "event":
            kind = value
