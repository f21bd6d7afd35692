/**
 * Programs in Python that speak to the host themselves instead of through `skills`: the channel is open to them.
 *
 * @module
 */
import type { Runtime } from '../../src/for-attacks.ts';
import { group, type TrustAttack } from './attack.ts';
import { inHost, inPythonHost, reported, trick, writeSkillAt, type Trick } from './program-tricks.ts';
import type { TrustStage } from './stage.ts';

const secretSkill = (stage: TrustStage): void =>
  writeSkillAt(stage, 'secret/read', 'export const execute = () => ({ secret: "tree-secret" });');
const SECRET = { tools: { 'secret/read': 'lambda **_: {"secret": "tree-secret"}' } };
const COUNTS = { tools: { 'tree/echo': 'lambda **p: p' } };

const FORGE_CALL = `
from _skillcell import protocol
seen = []
for name in ("secret/read", "secret/read\\0", ["secret/read"], {"name": "secret/read"}, None, 7, "secret/read" * 40):
    try:
        seen.append(protocol.ask("skill.call", {"name": name, "skills": ["*/*"], "parent": "x"}, b"{}"))
    except (OSError, KeyError, TypeError) as error:
        seen.append(repr(error))
return {"succeeded": "tree-secret" in repr(seen), "evidence": "an answer to its own frame"}
`;
const FORGE_WAIT = `
from _skillcell import protocol
import time
seen = []
for turn in range(20):
    for number in (*range(12), -1, 1.5, "1", 2 ** 53):
        try:
            seen.append(protocol.ask("skill.wait", {"calls": [number], "timeout_ms": 0}))
        except (OSError, TypeError):
            pass
    time.sleep(0.01)
return {"succeeded": "tree-secret" in repr(seen), "evidence": "the answer of another program"}
`;
const CANCEL_OTHERS = `
from _skillcell import protocol
for turn in range(20):
    for number in range(64):
        protocol.ask("skill.cancel", {"call": number})
return {"succeeded": False}
`;
const WAIT_TWICE = `
from _skillcell import protocol
number = protocol.ask("skill.start", {"name": "tree/echo"}, b'{"n": 1}')[0]["value"]["call"]
first = protocol.ask("skill.wait", {"calls": [number]})
again = [protocol.ask("skill.wait", {"calls": [number], "timeout_ms": 50}) for _ in range(3)]
return {"succeeded": any(answer.get("value", {}).get("ok") for answer, _ in again), "evidence": "one answer, twice"}
`;
const START_FLOOD = `
from _skillcell import protocol
made = sum("call" in protocol.ask("skill.start", {"name": "tree/echo"}, b"{}")[0].get("value", {}) for _ in range(600))
return {"succeeded": made > 400, "evidence": "%d calls started and not waited for" % made}
`;
const CANCEL_FREE = `
from _skillcell import protocol
made = 0
for n in range(60):
    value = protocol.ask("skill.start", {"name": "tree/echo"}, b"{}")[0]["value"]
    protocol.ask("skill.cancel", value)
    answer = protocol.ask("skill.wait", {"calls": [value.get("call", 0)]})[0].get("value", {})
    made += answer.get("ok", False) or answer.get("code") == "cancelled"
return {"succeeded": made > 20, "evidence": "%d calls" % made}
`;
const AFTER_RESULT = `
from _skillcell import protocol
protocol.send({"t": "result"}, '{"succeeded": false}')
for n in range(200):
    protocol.ask("skill.call", {"name": "count"}, b"{}")
return {"succeeded": False}
`;
const OTHER_ACTS = `
from _skillcell import protocol
seen = []
for op in ("program", "skill.grant", "skill.load", "fs.open", "runtime.execute", "skill.call ", "SKILL.CALL", "constructor", "__proto__"):
    answer = protocol.ask(op, {"name": "secret/read", "source": "return 1"}, b"{}")[0]
    seen.append("value" in answer)
return {"succeeded": any(seen), "evidence": "the host took an act that is not offered"}
`;

/** Another program that holds a call to a skill with a secret, beside the attacker. */
const besideVictim: NonNullable<Trick['run']> = async (runtime: Runtime, program, { input, options }) => {
  const source = `const all = [...Array(8).keys()].map(() => skills.secret.read({}));
    for (const one of all) if ((await one).secret !== 'tree-secret') return false;
    return true;`;
  const victim = runtime.program({ language: 'typescript', source, skills: ['secret/read'] }, {}, options);
  const ended = await runtime.program(program, input, options);
  const other = await victim;
  const isHurt = !other.ok || other.result !== true;
  return isHurt ? reported(ended, true) : ended;
};

let counted = 0;

export const PROGRAM_FRAME_ATTACKS: readonly TrustAttack[] = [
  ...group(['ok'], {
    py_tree_forge_call: trick({
      description: 'Writes the request for a skill that it was not given itself, with names of every shape.',
      ...{ language: 'python', source: FORGE_CALL, prepare: secretSkill, shows: ['call secret/read'] },
      control: inPythonHost(FORGE_CALL, SECRET),
    }),
    py_tree_forge_wait: trick({
      description: 'Waits for the calls of another program that runs at the same time.',
      ...{ language: 'python', source: FORGE_WAIT, prepare: secretSkill, run: besideVictim },
      control: inPythonHost(FORGE_WAIT, { tools: {}, answers: [{ secret: 'tree-secret' }] }),
    }),
    py_tree_cancel_others: trick({
      description: 'Cancels the calls of another program by their numbers.',
      ...{ language: 'python', source: CANCEL_OTHERS, prepare: secretSkill, run: besideVictim },
      control: { none: 'The control room has one program only.' },
    }),
    py_tree_replay_answer: trick({
      description: 'Fetches the answer of one call again and again.',
      ...{ language: 'python', source: WAIT_TWICE, shows: ['tree/echo ok'] },
      control: inPythonHost(WAIT_TWICE, COUNTS),
    }),
    py_tree_start_flood: trick({
      description: 'Starts hundreds of calls and waits for none.',
      ...{ language: 'python', source: START_FLOOD, options: { limits: { calls: 1000 } } },
      control: inPythonHost(START_FLOOD, COUNTS),
    }),
    py_tree_cancel_is_not_free: trick({
      description: 'Cancels each call right after its start, so that it might not count.',
      ...{ language: 'python', source: CANCEL_FREE, options: { limits: { calls: 5 } } },
      control: inPythonHost(CANCEL_FREE, COUNTS),
    }),
    py_tree_unknown_acts: trick({
      description: 'Asks the host for acts that are not offered to programs.',
      ...{ language: 'python', source: OTHER_ACTS, prepare: secretSkill },
      control: inPythonHost(OTHER_ACTS, { tools: {} }),
    }),
    py_tree_call_after_result: trick({
      description: 'Sends its result itself, and goes on calling a function of the host, as long as it can.',
      language: 'python',
      source: AFTER_RESULT,
      functions: () => ({ count: () => void counted++ }),
      run: async (runtime, program, { input, options }) => {
        counted = 0;
        const ended = await runtime.program(program, input, options);
        const atEnd = counted;
        await new Promise((resolve) => setTimeout(resolve, 500));
        return reported(ended, counted > atEnd);
      },
      control: async (stage) => {
        let late = 0;
        const source = 'setTimeout(() => functions.count({}), 10); return { succeeded: false }';
        await inHost(source, { count: () => ++late })(stage);
        await new Promise((resolve) => setTimeout(resolve, 500));
        return late > 0 ? 'in the host, the function is called after the result' : undefined;
      },
    }),
  }),
  ...group(['skill_error'], {
    py_tree_claim_denial: trick({
      description:
        'Reports the denial of a call that it never made, so that its failure looks like a denial.',
      language: 'python',
      source: `
from _skillcell import protocol
event = {"capability": "skill", "asked": "call secret/read", "declared": "not given"}
protocol.send({"t": "denied", **event})
protocol.send({"t": "error", "type": "SkillCallError", "message": "x", "trace": "", "denied": event})
return {"succeeded": False}
`,
      control: { none: 'The code of the outcome is the proof: it must not be a denial.' },
    }),
    tree_claim_denial: trick({
      description: 'Throws an error that looks like the denial of a call that it never made.',
      source: `const message = 'This call may not call the skill "secret/read": it was not given';
        throw Object.assign(new Error(message), { name: 'SkillCallError', code: 'capability_denied', fix: 'Approve it.' });`,
      control: async () => {
        const thrown: unknown = Object.assign(new Error('x'), { code: 'capability_denied' });
        const { code } = thrown as { code: string };
        return `an executor that passes the code on reports ${code}`;
      },
    }),
  }),
];
