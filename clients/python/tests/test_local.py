"""A real runtime on this machine."""

import asyncio
import importlib.util
import os
import unittest
from pathlib import Path
from typing import Any

from skillcell import AsyncLocal, Local, SkillcellConnectionError, SkillError, aexecute_isolated, execute_isolated
from skillcell._skillware import reference_to
from support import PROJECT, sleeps, unique_seconds, until

FOLDER = Path(PROJECT) / "skills" / "test" / "echo"


class ById(unittest.TestCase):
    local: Local

    @classmethod
    def setUpClass(cls) -> None:
        cls.local = Local(PROJECT)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.local.close()

    def test_gives_the_result_and_the_receipt(self) -> None:
        outcome = self.local.execute("test/echo", {"text": "hé"}, timeout=30)
        self.assertEqual(outcome.result, {"said": "hé"})
        self.assertEqual(outcome.execution["mode"], "subprocess")
        self.assertTrue(outcome.call_id)

    def test_keeps_every_json_value_as_it_is(self) -> None:
        for value in [None, True, 1, 1.5, "text", '{"result": 1}', [1, [2]], {}, {"result": 1}, {"result": {"a": 1}}]:
            with self.subTest(value=value):
                self.assertEqual(self.local.execute("test/gives", {"value": value}).result, value)

    def test_raises_what_went_wrong(self) -> None:
        for skill, params, code, words in [
            ("test/fails", {}, "skill_error", "no such order"),
            ("test/peeks", {}, "capability_denied", "/etc/passwd"),
            ("test/echo", {"text": 7}, "invalid_params", "text"),
            ("test/nope", {}, "skill_unavailable", "test__nope"),
        ]:
            with self.subTest(skill=skill), self.assertRaises(SkillError) as raised:
                self.local.execute(skill, params)
            self.assertEqual(raised.exception.code, code)
            self.assertIn(words, str(raised.exception) + str(raised.exception.detail))
            self.assertTrue(raised.exception.fix)

    def test_lists_the_skills(self) -> None:
        skills = {skill["name"]: skill for skill in self.local.list()}
        self.assertEqual(skills["test/echo"]["parameters"]["required"], ["text"])

    def test_kills_a_call_that_takes_too_long(self) -> None:
        seconds = unique_seconds()
        with self.assertRaises(SkillError) as raised:
            self.local.execute("test/slow", {"seconds": seconds}, timeout=3)
        self.assertEqual(raised.exception.code, "resource_exceeded")
        self.assertEqual(raised.exception.detail["limit"], "timeout")
        until(lambda: not sleeps(seconds))

    def test_refuses_a_timeout_that_is_no_duration(self) -> None:
        for timeout in (0, -1, float("nan"), float("inf"), True):
            with self.subTest(timeout=timeout), self.assertRaises(ValueError):
                self.local.execute("test/echo", {"text": ""}, timeout=timeout)


class ByFolder(unittest.TestCase):
    def test_gives_the_whole_outcome(self) -> None:
        with Local(PROJECT) as local:
            outcome = local.execute(FOLDER, {"text": "a"}, timeout=30)
        self.assertEqual(outcome.result, {"said": "a"})
        self.assertEqual(outcome.logs.strip(), "echoing")

    def test_raises_what_went_wrong(self) -> None:
        with Local(PROJECT) as local:
            for folder, code in [(FOLDER.parent / "fails", "skill_error"), (FOLDER / "nope", "skill_unavailable")]:
                with self.subTest(folder=folder), self.assertRaises(SkillError) as raised:
                    local.execute(folder)
                self.assertEqual(raised.exception.code, code)
                self.assertTrue(raised.exception.fix)

    def test_lowers_the_time_limit(self) -> None:
        with Local(PROJECT) as local, self.assertRaises(SkillError) as raised:
            local.execute(FOLDER.parent / "slow", {"seconds": unique_seconds()}, timeout=1)
        self.assertEqual(raised.exception.code, "resource_exceeded")
        self.assertEqual(raised.exception.detail["limit"], "timeout")


class ByBundle(unittest.TestCase):
    """As ``SkillLoader.load_skill`` of Skillware gives it."""

    def test_takes_a_bundle_with_its_module(self) -> None:
        spec = importlib.util.spec_from_file_location("echo_skill", FOLDER / "skill.py")
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        bundle = {"manifest": {"name": "test/echo"}, "registry_id": "test/echo", "module": module, "class": None}
        self.assertEqual(reference_to(bundle).folder, str(FOLDER))
        self.assertEqual(execute_isolated(bundle, {"text": "a"}, timeout=30), {"said": "a"})

    def test_takes_a_bundle_that_was_only_inspected(self) -> None:
        bundle = {"manifest": {"name": "test/echo"}, "registry_id": "test/echo", "module": None, "class": None}
        self.assertEqual(reference_to(bundle).id, "test/echo")

    def test_refuses_what_is_no_skill(self) -> None:
        for skill in ({}, 7, object()):
            with self.subTest(skill=skill), self.assertRaises(TypeError):
                reference_to(skill)


class InOneLine(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(PROJECT)

    async def test_gives_the_result(self) -> None:
        self.assertEqual(execute_isolated("test/echo", {"text": "a"}, timeout=30), {"said": "a"})
        self.assertEqual(await aexecute_isolated("test/echo", {"text": "b"}), {"said": "b"})

    async def test_raises_what_went_wrong(self) -> None:
        with self.assertRaises(SkillError):
            execute_isolated("test/fails")


class Processes(unittest.IsolatedAsyncioTestCase):
    async def test_runs_calls_at_the_same_time_and_cancels_one_with_its_task(self) -> None:
        seconds = unique_seconds()
        async with AsyncLocal(PROJECT) as local:
            slow: asyncio.Task[Any] = asyncio.create_task(local.execute("test/slow", {"seconds": seconds}))
            while not sleeps(seconds):
                await asyncio.sleep(0.05)
            self.assertEqual((await local.execute("test/echo", {"text": "a"})).result, {"said": "a"})
            slow.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await slow
            while sleeps(seconds):
                await asyncio.sleep(0.05)
            self.assertTrue(await local.list())

    async def test_cancels_the_run_of_a_folder_with_its_task(self) -> None:
        seconds = unique_seconds()
        async with AsyncLocal(PROJECT) as local:
            slow: asyncio.Task[Any] = asyncio.create_task(local.execute(FOLDER.parent / "slow", {"seconds": seconds}))
            while not sleeps(seconds):
                await asyncio.sleep(0.05)
            slow.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await slow
            while sleeps(seconds):
                await asyncio.sleep(0.05)

    def test_ends_the_process_and_its_calls_when_closed(self) -> None:
        local = Local(PROJECT)
        local.execute("test/echo", {"text": "a"})
        process = local._kept()
        pending = process.call_tool("test__slow", {"seconds": unique_seconds()})
        local.close()
        self.assertFalse(os.path.exists(f"/proc/{process.pid}"))
        with self.assertRaises((SkillError, SkillcellConnectionError)):
            pending.future.result()
        with self.assertRaises(SkillError) as raised:
            local.execute("test/echo", {"text": "a"})
        self.assertEqual(raised.exception.code, "usage")

    def test_says_that_the_process_has_ended(self) -> None:
        with Local(PROJECT) as local:
            process = local._kept()
            os.kill(process.pid, 9)
            with self.assertRaises(SkillcellConnectionError):
                while True:
                    local.execute("test/echo", {"text": "a"})

    def test_says_that_the_command_is_missing(self) -> None:
        with Local(PROJECT, command=["/nonexistent/skillcell"]) as local:
            with self.assertRaises(SkillcellConnectionError):
                local.execute("test/echo", {"text": "a"})


if __name__ == "__main__":
    unittest.main()
