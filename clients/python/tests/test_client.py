"""The client against a real daemon. DRAGOMAN_CLI names the program: node and the built command line, separated by a newline."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any, Optional
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dragoman_client import DragomanError, connect  # noqa: E402
from dragoman_client import http as client_http  # noqa: E402

PROGRAM = os.environ["DRAGOMAN_CLI"].split("\n")


class Daemon:
    def __init__(self, data_dir: str, port: int = 0) -> None:
        args = [*PROGRAM, "serve", "--json", "--no-open", "--port", str(port), "--data-dir", data_dir]
        self.process = subprocess.Popen(args, stdout=subprocess.PIPE, text=True, cwd=data_dir)
        assert self.process.stdout is not None
        self.ready: dict[str, Any] = json.loads(self.process.stdout.readline())
        self.port = int(self.ready["url"].rsplit(":", 1)[1])

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(how)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


class ClientTest(unittest.TestCase):
    folder: "tempfile.TemporaryDirectory[str]"
    daemon: Daemon

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory(prefix="dragoman-python-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.daemon = Daemon(cls.folder.name)
        cls.addClassCleanup(lambda: cls.daemon.end())

    def setUp(self) -> None:
        self.client = connect(data_dir=self.folder.name)

    def test_finds_the_daemon_and_prompts_an_agent(self) -> None:
        self.assertEqual(self.client.health()["status"], "ok")
        self.assertIn("mock", [agent["agent"] for agent in self.client.agents()])
        with self.client.create_session("mock", directory=self.folder.name, title="from Python") as session:
            outcome = session.prompt("say hello")
            self.assertEqual((outcome.stop_reason, outcome.text, outcome.error), ("end_turn", "hello", None))
            self.assertEqual(session.get()["title"], "from Python")
            self.assertEqual(session.update(title="renamed")["title"], "renamed")
            self.assertEqual([found["session_id"] for found in self.client.sessions(search="renamed")["sessions"]], [session.id])
        self.assertEqual(session.get()["status"], "ended")
        living = self.client.sessions(ended="exclude")["sessions"]
        self.assertNotIn(session.id, [found["session_id"] for found in living])

    def test_answers_permissions_and_questions(self) -> None:
        session = self.client.create_session("mock")
        asked: list[str] = []

        def allow(event: Any) -> Any:
            asked.append(event["data"]["action"])
            return "once"

        self.assertEqual(session.prompt("ask touch a.txt", on_permission=allow).text, "Thank you, I ran it (once).")
        self.assertEqual(asked, ["Run: touch a.txt"])

        def answer(event: Any) -> None:
            if event["type"] == "question.requested":
                session.reply_question(event["data"]["question_id"], [["Blue"], ["Cheese"]])

        self.assertEqual(session.prompt("question", on_event=answer).text, "You chose Blue; Cheese.")

    def test_a_message_that_is_removed_or_comes_after_a_failed_turn(self) -> None:
        session = self.client.create_session("mock")

        def take_back(event: Any) -> None:
            if event["type"] == "message.queued" and event["data"]["text"] == "say never":
                session._http.request("DELETE", f"/v1/sessions/{session.id}/queue/{event['data']['message_id']}")

        session.send("hang")
        with self.assertRaises(DragomanError) as caught:
            session.prompt("say never", on_event=take_back)
        self.assertEqual(caught.exception.code, "message_removed")
        session.interrupt()
        session.send("error api_error")
        outcome = session.prompt("say well again")
        self.assertEqual((outcome.stop_reason, outcome.text, outcome.error), ("end_turn", "well again", None))

    def test_says_what_went_wrong(self) -> None:
        with self.assertRaises(DragomanError) as caught:
            self.client.session("sess_nobody").get()
        self.assertEqual((caught.exception.code, caught.exception.status), ("session_not_found", 404))
        with self.assertRaises(DragomanError) as caught:
            connect(self.daemon.ready["url"], "wrong").sessions()
        self.assertEqual(caught.exception.code, "unauthorized")
        with self.assertRaises(DragomanError) as caught:
            connect("http://127.0.0.1:1", "x").sessions()
        self.assertEqual(caught.exception.code, "unreachable")
        with tempfile.TemporaryDirectory() as empty, self.assertRaises(DragomanError) as caught:
            connect(data_dir=empty)
        self.assertEqual(caught.exception.code, "no_daemon")
        with self.assertRaises(DragomanError) as caught:
            next(self.client.session("sess_nobody").events())
        self.assertEqual(caught.exception.code, "session_not_found")

    def test_events_end_with_the_session_and_are_filtered(self) -> None:
        session = self.client.create_session("mock")
        session.prompt("say one")
        session.terminate()
        events = list(session.events())
        self.assertEqual([event["sequence"] for event in events], list(range(1, len(events) + 1)))
        self.assertEqual(events[-1]["type"], "session.ended")
        self.assertEqual([event["type"] for event in session.events(types=["turn.ended"])], ["turn.ended"])
        # Whoever has the last event is told that nothing more comes.
        self.assertEqual(list(session.events(after=events[-1]["sequence"])), [])

    def test_events_go_on_after_a_crash_of_the_daemon(self) -> None:
        session = self.client.create_session("mock")
        session.send("clock 100000 20")
        seen: list[int] = []
        killed = threading.Event()
        back: Optional[Daemon] = None

        def restart() -> None:
            nonlocal back
            self.daemon.end(signal.SIGKILL)
            killed.set()
            back = Daemon(self.folder.name, self.daemon.port)

        with mock.patch.object(client_http, "FIRST_WAIT_S", 0.05):
            restarting: Optional[threading.Thread] = None
            for event in session.events():
                seen.append(event["sequence"])
                if len(seen) == 20:
                    restarting = threading.Thread(target=restart)
                    restarting.start()
                if killed.is_set() and event["type"] == "turn.ended":
                    break
        assert restarting is not None
        restarting.join()
        assert back is not None
        type(self).daemon = back
        self.assertEqual(seen, list(range(1, len(seen) + 1)))
        self.assertGreater(len(seen), 20)
        again = connect(data_dir=self.folder.name).session(session.id)
        self.assertEqual(again.prompt("say back").text, "back")

    def test_events_of_all_sessions_have_cursors(self) -> None:
        session = self.client.create_session("mock")
        stream = self.client.events(types=["turn.started", "turn.ended"])
        seen = threading.Event()

        def send() -> None:
            # The stream begins when it is read: what was sent before is not in it.
            while not seen.wait(0.2):
                session.send("say hi")

        sending = threading.Thread(target=send)
        sending.start()
        cursor, first = next(stream)
        while first["type"] != "turn.started":
            cursor, first = next(stream)
        _, second = next(stream)
        seen.set()
        sending.join()
        stream.close()  # type: ignore[attr-defined]
        self.assertEqual([first["type"], second["type"]], ["turn.started", "turn.ended"])
        _, same = next(self.client.events(after=cursor, types=["turn.ended"]))
        self.assertEqual(same["event_id"], second["event_id"])


if __name__ == "__main__":
    unittest.main()
