"""A daemon and its sessions. Thin: every method is one route; ``http.request`` reaches the others."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Literal, Optional, Sequence, cast
from urllib.parse import quote

from . import types
from .discovery import discover
from .errors import DragomanError
from .http import Http


def connect(url: Optional[str] = None, token: Optional[str] = None, data_dir: Optional[os.PathLike[str] | str] = None) -> "Dragoman":
    """With a url: that daemon. Without: the one that runs on this machine. A token that is given, here or in DRAGOMAN_TOKEN, always counts."""
    token = token or os.environ.get("DRAGOMAN_TOKEN") or None
    url = url or os.environ.get("DRAGOMAN_URL") or None
    if url is not None:
        return Dragoman(Http(url, token))
    found = discover(data_dir)
    if found is None:
        raise DragomanError("no_daemon", "No daemon is running on this machine. Start one with `dragoman start`, or give connect() its url and token.")
    token = token or found.get("token")
    if token is None:
        raise DragomanError("no_token", "The daemon keeps no token on the disk. Give it with DRAGOMAN_TOKEN or to connect().")
    return Dragoman(Http(found["url"], token))


class Dragoman:
    def __init__(self, http: Http) -> None:
        #: For every route that has no method here.
        self.http = http

    def health(self) -> types.Health:
        return cast(types.Health, self.http.request("GET", "/v1/health"))

    def agents(self) -> list[types.Agent]:
        return cast(list[types.Agent], self.http.request("GET", "/v1/agents")["agents"])

    def sessions(self, **query: Any) -> types.SessionList:
        """``agent``, ``status``, ``ended``, ``order``, ``search``, ``limit``, ``before`` … as in the API."""
        return cast(types.SessionList, self.http.request("GET", "/v1/sessions", query))

    def create_session(self, agent: str, **options: Any) -> "Session":
        """``directory``, ``model``, ``permission_mode``, ``title``, ``env`` … as in types.CreateSession."""
        created = self.http.request("POST", "/v1/sessions", body={"agent": agent, **options})
        return Session(self.http, created["session_id"])

    def session(self, session_id: str) -> "Session":
        return Session(self.http, session_id)

    def events(self, after: Optional[str] = None, types: Optional[Sequence[str]] = None) -> Iterator[tuple[str, types.UniversalEvent]]:
        """The events of all sessions from now on, or after a cursor, each with its cursor. Never ends by itself."""
        return self.http.stream("/v1/events/sse", {"kind": "session", "types": types}, after)


@dataclass
class TurnOutcome:
    turn_id: str
    stop_reason: str
    #: The text of the turn's last message of the agent.
    text: str = ""
    error: Optional[str] = None
    items: list[types.Item] = field(default_factory=list)


class Session:
    """In a ``with`` statement the session ends with the block."""

    def __init__(self, http: Http, session_id: str) -> None:
        self.id = session_id
        self._http = http
        self._path = f"/v1/sessions/{quote(session_id, safe='')}"

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.terminate()

    def get(self) -> types.Session:
        return cast(types.Session, self._http.request("GET", self._path))

    def update(self, **change: Any) -> types.Session:
        """``model``, ``permission_mode``, ``title``, ``tags`` … as in types.UpdateSession."""
        return cast(types.Session, self._http.request("PATCH", self._path, body=change))

    def send(self, message: str, when_busy: Literal["queue", "steer", "reject"] = "queue", **options: Any) -> types.MessageAccepted:
        body = {"message": message, "when_busy": when_busy, **options}
        return cast(types.MessageAccepted, self._http.request("POST", f"{self._path}/messages", body=body))

    def prompt(
        self,
        message: str,
        on_event: Callable[[types.UniversalEvent], None] = lambda _: None,
        on_permission: Optional[Callable[[types.UniversalEvent], Literal["once", "always", "reject"]]] = None,
    ) -> TurnOutcome:
        """
        Sends, and waits for the end of the turn, or of the one the message was steered into. Permissions are answered by ``on_permission``, or elsewhere
        meanwhile. Raises ``message_removed`` when somebody took the message out of the queue.
        """
        after = self.get()["last_sequence"]
        sent = self.send(message)
        turn_id = sent["turn_id"]
        outcome: Optional[TurnOutcome] = None
        items: list[types.Item] = []
        error: Optional[str] = None
        for event in self.events(after):
            on_event(event)
            data: Any = event["data"]
            if event["type"] == "permission.requested" and on_permission is not None:
                self.reply_permission(data["permission_id"], on_permission(event), data["metadata"].get("input_hash"))
            elif event["type"] == "error":
                error = data["message"]
            elif event["type"] == "message.removed" and data["message_id"] == sent["message_id"]:
                if data["reason"] == "steered":
                    turn_id = data.get("turn_id", turn_id)
                elif data["reason"] != "session_ended":
                    raise DragomanError("message_removed", "The message was removed from the queue before its turn began.")
            elif event["type"] == "item.completed":
                items.append(data["item"])
            elif event["type"] == "turn.ended" and data["turn_id"] == turn_id:
                own = [item for item in items if item["turn_id"] == turn_id]
                outcome = TurnOutcome(turn_id, data["stop_reason"], _final_text(own), error, own)
                break
            elif event["type"] == "turn.ended":
                # What went wrong in the turn before is not the fault of this one.
                error = None
        if outcome is None:
            raise DragomanError("stream_ended", error or "The session ended before the turn did.")
        return outcome

    def events(self, after: int = 0, types: Optional[Sequence[str]] = None) -> Iterator[types.UniversalEvent]:
        """Live, from any point, in order, each once, across lost connections; ends after ``session.ended``."""
        # The end is always asked for: without it a filtered stream could not tell the session's end from a lost connection.
        asked = None if types is None else [*types, "session.ended"]
        ended: Callable[[Any], bool] = lambda event: event["type"] == "session.ended"
        for _, event in self._http.stream(f"{self._path}/events/sse", {"types": asked}, str(after), ended):
            if types is None or event["type"] in types:
                yield event

    def page(self, after: int = 0, limit: int = 100, **query: Any) -> types.EventList:
        return cast(types.EventList, self._http.request("GET", f"{self._path}/events", {"after": after, "limit": limit, **query}))

    def items(self, **query: Any) -> types.ItemList:
        """One page of the transcript."""
        return cast(types.ItemList, self._http.request("GET", f"{self._path}/items", query))

    def pending(self) -> types.Pending:
        return cast(types.Pending, self._http.request("GET", f"{self._path}/pending"))

    def reply_permission(self, permission_id: str, reply: Literal["once", "always", "reject"], input_hash: Optional[str] = None, **options: Any) -> None:
        """``input_hash`` binds the answer to what was read: it is refused when the agent asks for something else by then."""
        body = {"reply": reply, **({} if input_hash is None else {"input_hash": input_hash}), **options}
        self._http.request("POST", f"{self._path}/permissions/{quote(permission_id, safe='')}/reply", body=body)

    def reply_question(self, question_id: str, answers: list[list[str]]) -> None:
        self._http.request("POST", f"{self._path}/questions/{quote(question_id, safe='')}/reply", body={"answers": answers})

    def reject_question(self, question_id: str) -> None:
        self._http.request("POST", f"{self._path}/questions/{quote(question_id, safe='')}/reject", body={})

    def interrupt(self) -> None:
        self._http.request("POST", f"{self._path}/interrupt", body={})

    def terminate(self) -> None:
        """Idempotent."""
        self._http.request("POST", f"{self._path}/terminate", body={})

    def remove(self) -> None:
        """Removes the session and all it left in the log."""
        self._http.request("DELETE", self._path)


def _final_text(items: list[types.Item]) -> str:
    """The last message the agent itself wrote: what sub-agents say has a parent."""
    for item in reversed(items):
        if item["kind"] == "message" and item["role"] == "assistant" and item["parent_id"] is None:
            return "".join(part.get("text", "") for part in cast(Any, item["content"]) if part["type"] in ("text", "refusal"))
    return ""
