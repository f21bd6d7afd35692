"""What an executor without cells does with a program in Python: its tools are functions beside it, and it checks nothing.

Reads the source, the input and the tools as JSON, and prints the result of the program as the last line.
"""

import asyncio
import atexit
import json
import sys
import textwrap
import types

order = json.load(sys.stdin)
source = textwrap.dedent(order["source"])
is_async = "await " in source
late = []


class SkillCallError(Exception):
    def __init__(self, code, message, fix):
        super().__init__(message)
        self.code, self.message, self.fix = code, message, fix


def tool(name):
    act = tools[name]

    def call(params=None, /, **named):
        return act(**{**(params or {}), **named})

    async def call_later(params=None, /, **named):
        return call(params, **named)

    return call_later if is_async else call


class Names:
    def __init__(self, prefix=""):
        self._prefix = prefix

    def __getattr__(self, name):
        return self[name]

    def __getitem__(self, name):
        whole = self._prefix + name
        return tool(whole) if whole in tools else Names(whole + "/")


answers = dict(enumerate(order.get("answers", [])))


def ask(op, args, payload=b""):
    if op == "skill.call":
        return {"value": {"ok": True}}, json.dumps(tools[str(args["name"])](**json.loads(payload or b"{}"))).encode()
    if op == "skill.start":
        number = len(answers)
        answers[number] = tools[args["name"]](**json.loads(payload or b"{}"))
        return {"value": {"call": number}}, b""
    if op == "skill.wait":
        number = (args.get("calls") or list(answers))[0]
        if number not in answers:
            return {"code": "inval"}, b""
        return {"value": {"ok": True, "call": number}}, json.dumps(answers[number]).encode()
    return {"value": {}}, b""


protocol = types.ModuleType("_skillcell.protocol")
protocol.ask, protocol.send = ask, lambda frame, value=None: None
package = types.ModuleType("_skillcell")
package.protocol = protocol
sys.modules.update({"_skillcell": package, "_skillcell.protocol": protocol})
tools = {name: eval(text, {"late": late, "SkillCallError": SkillCallError}) for name, text in order["tools"].items()}
scope = {
    "input": order["input"],
    "skills": Names(),
    "functions": Names(),
    "SkillCallError": SkillCallError,
}
result = {}


@atexit.register
def end():
    for act in order.get("at_end", ()):
        result["succeeded"] = eval(act, {"late": late})
    print("\n" + json.dumps(result))


head = "async def program():\n" if is_async else "def program():\n"
exec(head + textwrap.indent(source, "    "), scope)
result = asyncio.run(scope["program"]()) if is_async else scope["program"]()


