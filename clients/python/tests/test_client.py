"""The clients of a real service."""

import asyncio
import unittest
from typing import Any, List

from skillcell import AsyncClient, Client, Event, SkillcellConnectionError, SkillError
from support import TOKEN, URL, sleeps, unique_seconds, until

client = Client(URL, token=TOKEN)


class Calls(unittest.TestCase):
    def test_lists_and_inspects_skills(self) -> None:
        self.assertIn("test/echo", [skill["name"] for skill in client.list()])
        page = client.inspect("test/echo")
        self.assertEqual(page["parameters"]["required"], ["text"])

    def test_gives_the_whole_outcome_of_a_call(self) -> None:
        outcome = client.execute("test/echo", {"text": "hé"}, timeout=20, memory="64MiB")
        self.assertEqual(outcome.result, {"said": "hé"})
        self.assertEqual(outcome.skill["name"], "test/echo")
        self.assertEqual(outcome.execution["mode"], "subprocess")
        self.assertEqual(outcome.logs.strip(), "echoing")
        self.assertEqual(client.receipt(outcome.call_id)["receipt"]["code"], "ok")

    def test_raises_what_went_wrong(self) -> None:
        for skill, params, code, status in [
            ("test/fails", {}, "skill_error", 422),
            ("test/peeks", {}, "capability_denied", 403),
            ("test/echo", {"text": 7}, "invalid_params", 400),
            ("test/nope", {}, "skill_unavailable", 404),
        ]:
            with self.subTest(skill=skill), self.assertRaises(SkillError) as raised:
                client.execute(skill, params)
            self.assertEqual((raised.exception.code, raised.exception.status), (code, status))
            self.assertTrue(raised.exception.message)
            self.assertTrue(raised.exception.fix)

    def test_has_the_denials_and_the_receipt_in_the_error(self) -> None:
        with self.assertRaises(SkillError) as raised:
            client.execute("test/peeks")
        outcome = raised.exception.outcome or {}
        self.assertIn("/etc/passwd", outcome["capabilities"]["denied"][0]["asked"])
        self.assertEqual(raised.exception.call_id, outcome["call_id"])

    def test_lowers_the_time_limit(self) -> None:
        with self.assertRaises(SkillError) as raised:
            client.execute("test/slow", {"seconds": unique_seconds()}, timeout=0.5)
        self.assertEqual(raised.exception.code, "resource_exceeded")
        self.assertEqual(raised.exception.detail["limit"], "timeout")

    def test_refuses_a_wrong_token_and_a_wrong_address(self) -> None:
        with self.assertRaises(SkillError) as raised:
            Client(URL, token="wrong").list()
        self.assertEqual(raised.exception.status, 401)
        with self.assertRaises(SkillcellConnectionError):
            Client("http://127.0.0.1:1", token=TOKEN).list()
        with self.assertRaises(ValueError):
            Client("ftp://example")

    def test_says_who_it_is_and_that_the_service_is_up(self) -> None:
        self.assertIn("admin", client.whoami()["scopes"])
        self.assertEqual(Client(URL).health()["status"], "ok")

    def test_pages_through_receipts(self) -> None:
        for _ in range(3):
            client.execute("test/echo", {"text": "again"})
        first = client.receipts(limit=2, skill="test/echo", code="ok")
        self.assertEqual(len(first.receipts), 2)
        older = client.receipts(limit=2, skill="test/echo", before=first.older)
        ids = [entry["receipt"]["call_id"] for entry in first.receipts + older.receipts]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertGreater(len(ids), 2)


class Streams(unittest.TestCase):
    def test_yields_events_in_order(self) -> None:
        events = list(client.stream("test/echo", {"text": "a"}))
        self.assertEqual([event.type for event in events], ["accepted", "started", "log", "done"])
        self.assertEqual((events[-1].outcome or {})["result"], {"said": "a"})

    def test_raises_a_refusal_before_the_first_event(self) -> None:
        with self.assertRaises(SkillError) as raised:
            next(client.stream("test/nope"))
        self.assertEqual(raised.exception.code, "skill_unavailable")

    def test_cancels_a_call_by_its_id(self) -> None:
        seconds = unique_seconds()
        events = client.stream("test/slow", {"seconds": seconds})
        call_id = next(events).data["call_id"]
        until(lambda: sleeps(seconds))
        self.assertEqual(client.call(call_id)["state"], "running")
        self.assertEqual([call["call_id"] for call in client.calls()["running"]], [call_id])
        followed = client.events(call_id)
        self.assertEqual(next(followed).type, "accepted")
        client.cancel(call_id)
        for last in (list(events)[-1], list(followed)[-1]):
            self.assertEqual((last.outcome or {})["error"]["code"], "cancelled")
        self.assertFalse(sleeps(seconds))

    def test_cancels_a_call_whose_stream_is_left(self) -> None:
        seconds = unique_seconds()
        call_id = ""
        for event in client.stream("test/slow", {"seconds": seconds}):
            call_id = event.data.get("call_id", call_id)
            if event.type == "started":
                until(lambda: sleeps(seconds))
                break
        until(lambda: client.call(call_id)["state"] == "ended")
        self.assertEqual(client.receipt(call_id)["receipt"]["code"], "cancelled")


class Asynchronous(unittest.IsolatedAsyncioTestCase):
    async def test_calls_at_the_same_time(self) -> None:
        async with AsyncClient(URL, TOKEN) as client:
            texts = ["a", "b", "c"]
            ended = await asyncio.gather(*(client.execute("test/echo", {"text": text}) for text in texts))
            self.assertEqual([outcome.result["said"] for outcome in ended], texts)
            self.assertIn("test/echo", [skill["name"] for skill in await client.list()])
            with self.assertRaises(SkillError):
                await client.execute("test/fails")

    async def test_yields_events(self) -> None:
        async with AsyncClient(URL, TOKEN) as client:
            events: List[Event] = [event async for event in client.stream("test/echo", {"text": "a"})]
        self.assertEqual(events[-1].type, "done")

    async def test_cancels_the_call_of_a_cancelled_task(self) -> None:
        seconds = unique_seconds()
        async with AsyncClient(URL, TOKEN) as client:
            task: asyncio.Task[Any] = asyncio.create_task(client.execute("test/slow", {"seconds": seconds}))
            while not sleeps(seconds):
                await asyncio.sleep(0.05)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            while sleeps(seconds):
                await asyncio.sleep(0.05)
            while not (page := await client.receipts(limit=1, code="cancelled")).receipts:
                await asyncio.sleep(0.05)
            self.assertEqual(page.receipts[0]["receipt"]["skill"]["name"], "test/slow")


if __name__ == "__main__":
    unittest.main()
