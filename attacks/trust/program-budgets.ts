/**
 * Programs that want more than their tree may use, that outlive their end, or that want what their skills hold.
 *
 * @module
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { mkdirSync, writeFileSync } from 'node:fs';
import { group, type TrustAttack } from './attack.ts';
import {
  canCall,
  inHost,
  inPythonHost,
  harmed,
  reported,
  trick,
  writeSkillAt,
  type Tool,
  type Trick,
} from './program-tricks.ts';
import type { TrustStage } from './stage.ts';

const echo: Tool = (params) => params;
const ECHO_TOOL = { tools: { 'tree/echo': 'lambda **p: p' } };

const PY_MANY = `
made = 0
for n in range(50):
    try:
        skills.tree.echo(n=n)
        made += 1
    except SkillCallError:
        pass
return {"succeeded": made > 5, "evidence": "%d calls" % made}
`;
const PY_GATHER = `
import asyncio
all = await asyncio.gather(*[skills.tree.echo(n=n) for n in range(50)], return_exceptions=True)
made = sum(isinstance(one, dict) for one in all)
return {"succeeded": made > 5, "evidence": "%d calls" % made}
`;
const GETTERS = `let made = 0;
  const call = () => skills.tree.echo({}).then(() => made++, () => 0);
  const trap = () => ({ toJSON() { call(); call(); return { n: 1 }; }, get x() { return call(); } });
  for (let n = 0; n < 20; n++) await skills.tree.echo({ trap: trap(), x: trap().x }).then(() => made++, () => 0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  return { succeeded: made > 5, evidence: made + ' calls' };`;
const PY_DELETER = `
made = []
class Trap(dict):
    def items(self):
        for n in range(3):
            try:
                made.append(skills.tree.echo(n=n))
            except SkillCallError:
                pass
        return [("n", 1)]
    def __del__(self):
        self.items()
for n in range(10):
    try:
        skills.tree.echo(Trap().items() and {"n": n})
    except SkillCallError:
        pass
return {"succeeded": len(made) > 5, "evidence": "%d calls" % len(made)}
`;
const DEPTH = `const { depth } = await skills.tree.first({}).catch(() => ({ depth: 0 }));
  return { succeeded: depth > 1, evidence: 'depth ' + depth };`;
const CPU = `let made = 0;
  for (let n = 0; n < 40; n++) await skills.tree.burn({}).then(() => made++, () => 0);
  return { succeeded: made > 20, evidence: made + ' times four million steps' };`;
const OUTPUT = `let printed = 0;
  for (let n = 0; n < 30; n++) await skills.tree.print({}).then(() => printed++, () => 0);
  return { succeeded: printed > 20, evidence: printed + ' MB' };`;
const FUNCTIONS = `let made = 0;
  for (let n = 0; n < 50; n++) await functions.count({}).then(() => made++, () => 0);
  return { succeeded: made > 5, evidence: made + ' calls of a function' };`;
const UNGIVEN = `let caught = 0;
  for (let n = 0; n < 3000; n++) await skills['none/' + n]({}).catch(() => caught++);
  await skills.tree.echo({});
  return { succeeded: caught !== 3000 };`;
const AT_ONCE = `let made = 0;
  const all = [...Array(900).keys()].map(() => skills.tree.echo({}).then(() => made++, () => 0));
  await Promise.all(all);
  return { succeeded: made > 50, evidence: made + ' calls' };`;
const ENDLESS = `for (let n = 0; n < 400; n++) { await functions.count({}).catch(() => 0); await new Promise((r) => setTimeout(r, 5)); }
  return { succeeded: false };`;
const PY_ENDLESS = `
for n in range(400):
    try:
        functions.count()
    except SkillCallError:
        pass
return {"succeeded": False}
`;
const SLOW = `await skills.tree.wait({}).catch(() => 0); return { succeeded: false };`;
const LATE_TASK = `
import asyncio
async def later():
    await asyncio.sleep(0.2)
    await functions.count()
task = asyncio.create_task(later())
await functions.touch()
return {"succeeded": False}
`;
const AT_EXIT = `
import atexit
atexit.register(lambda: functions.count())
return {"succeeded": False, "evidence": "a function was called at the exit"}
`;
const VARIABLE = `const got = await skills.tree.env({ name: 'TREE_HOST_VARIABLE' }).catch(() => undefined);
  return { succeeded: got?.value === 'invented-host-value', evidence: 'a variable that the skill does not declare' };`;
const URL_DEPUTY = `const got = await skills.tree.fetch({ url: input.url }).catch(() => undefined);
  return { succeeded: got?.text === 'inner page', evidence: 'a page that only the host reaches' };`;
const PY_FILE_DEPUTY = `
try:
    got = skills.tree.read(path=input["path"])
except SkillCallError:
    got = {}
return {"succeeded": got.get("text") == "deputy-secret", "evidence": "a file outside of the folder of the skill"}
`;
const SECRET = 'invented-tree-token-0123456789';
const CODED = `const { text } = await skills.tree.holder({});
  const spellings = [text, text.split('').reverse().join(''), decodeURIComponent(text)];
  return { succeeded: spellings.includes(input.expected), evidence: 'the value of a secret of the skill' };`;
const PY_CODED = `
text = skills.tree.holder()["text"]
return {"succeeded": text[::-1] == input["expected"] or text == input["expected"], "evidence": "the value of a secret of the skill"}
`;
const HOLDER = 'export const execute = () => ({ text: [...process.env.TREE_TOKEN].reverse().join("") });';

/** Whether a function of the host was called after the program had ended or was cancelled. */
const countedAfter: NonNullable<Trick['run']> = async (runtime, program, { input, options }) => {
  // Of its own: attacks run side by side.
  let counted = 0;
  const functions = { count: () => void counted++, touch: () => undefined };
  const ended = await runtime.program({ ...program, functions }, input, options);
  await new Promise((resolve) => setTimeout(resolve, 600));
  return reported(ended, counted > 0);
};

/** Cancelled while it calls; nothing may be called afterwards, and nothing may keep running. */
const cancelled: NonNullable<Trick['run']> = async (runtime, program, { input, options }) => {
  const controller = new AbortController();
  let counted = 0;
  const functions = { count: () => ++counted === 3 && controller.abort() };
  const ended = await runtime.program({ ...program, functions }, input, {
    ...options,
    signal: controller.signal,
  });
  const atEnd = counted;
  await new Promise((resolve) => setTimeout(resolve, 300));
  return counted > atEnd || counted > 10 || runtime.running.length > 0 ? harmed(ended) : ended;
};

/** The deadline passes while a skill runs; it must not run on. */
const pastDeadline: NonNullable<Trick['run']> = async (runtime, program, { input, options }) => {
  const ended = await runtime.program(program, input, options);
  return runtime.running.length > 0 ? harmed(ended) : ended;
};

const countsOn =
  (source: string): TrustAttack['control'] =>
  async (stage) => {
    let late = 0;
    await inHost(source, { count: () => ++late })(stage);
    return late > 4 ? `an executor that cannot be cancelled makes ${late} calls` : undefined;
  };

async function openServer(): Promise<{ server: Server; url: string }> {
  const server = createServer((_, response) => void response.end('inner page'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

const deputyFile = (stage: TrustStage): string => join(stage.dir, 'deputy.txt');
const holder = (stage: TrustStage): void =>
  writeSkillAt(stage, 'tree/holder', {
    code: HOLDER,
    env_vars: { TREE_TOKEN: { secret: true, hosts: ['api.example'] } },
    capabilities: { network: [{ host: 'api.example' }] },
  });
const withToken = {
  prepare: holder,
  runtime: {
    secrets: (name: string) => (name === 'TREE_TOKEN' ? SECRET : undefined),
    allowEnv: ['TREE_TOKEN'],
  },
  input: () => ({ expected: SECRET }),
  shows: ['tree/holder ok'],
};
const five = { options: { limits: { calls: 5 } }, shows: ['tree/echo ok'] };

export const PROGRAM_BUDGET_ATTACKS: readonly TrustAttack[] = [
  ...group(['ok'], {
    py_tree_many_calls: trick({
      description: 'Makes more calls than its budget in Python, and catches every refusal.',
      ...{ language: 'python', source: PY_MANY, ...five },
      control: inPythonHost(PY_MANY, ECHO_TOOL),
    }),
    py_tree_many_calls_at_once: trick({
      description: 'Makes more calls than its budget with one gather.',
      ...{ language: 'python', source: PY_GATHER, ...five },
      control: inPythonHost(PY_GATHER, ECHO_TOOL),
    }),
    tree_call_while_serializing: trick({
      description:
        'Calls from getters and toJSON while parameters are written, to call before it is counted.',
      ...{ source: GETTERS, ...five },
      control: inHost(GETTERS, { 'tree/echo': echo }),
    }),
    py_tree_call_while_serializing: trick({
      description: 'Calls from the methods and the end of an object that is a parameter.',
      ...{ language: 'python', source: PY_DELETER, ...five },
      control: inPythonHost(PY_DELETER, ECHO_TOOL),
    }),
    tree_depth_by_child: trick({
      description: 'Has a child call deeper than the program may.',
      ...{ source: DEPTH, options: { limits: { depth: 1 } } },
      prepare: (stage) => {
        writeSkillAt(stage, 'tree/second', 'export const execute = () => ({ depth: 2 });');
        writeSkillAt(stage, 'tree/first', {
          code: 'export const execute = () => skills.tree.second({});',
          ...canCall('tree/second'),
        });
      },
      shows: ['tree/first resource_exceeded'],
      control: inHost(DEPTH, { 'tree/first': () => ({ depth: 2 }) }),
    }),
    tree_cpu_by_children: trick({
      description: 'Uses up CPU time in its skills, each within its own limit.',
      ...{ source: CPU, options: { limits: { cpu: '500ms', timeout: '120s' } }, shows: ['tree/burn ok'] },
      prepare: (stage) =>
        writeSkillAt(
          stage,
          'tree/burn',
          'export function execute() { let n = 0; while (n < 4e6) n++; return { n }; }',
        ),
      control: inHost(CPU, { 'tree/burn': () => ({}) }),
    }),
    tree_output_by_children: trick({
      description: 'Has its skills print a megabyte each, more than the tree may.',
      ...{ source: OUTPUT, options: { limits: { timeout: '120s' } }, shows: ['tree/print ok'] },
      prepare: (stage) =>
        writeSkillAt(stage, 'tree/print', {
          code: 'export function execute() { for (let n = 0; n < 100; n++) console.log("x".repeat(9990)); return {}; }',
          limits: { output: '2MiB' },
        }),
      control: inHost(OUTPUT, { 'tree/print': () => ({}) }),
    }),
    tree_functions_count: trick({
      description: 'Calls a function of the host more often than it may make calls.',
      ...{ source: FUNCTIONS, functions: () => ({ count: () => 1 }), options: { limits: { calls: 5 } } },
      control: inHost(FUNCTIONS, { count: () => 1 }),
    }),
    tree_flood_of_refusals: trick({
      description: 'Asks thousands of times for skills that it was not given.',
      ...{
        source: UNGIVEN,
        options: { limits: { timeout: '120s' } },
        shows: ['call none/1', 'tree/echo ok'],
      },
      control: { none: 'The next call of others must work, and the list of denials has an end.' },
    }),
    tree_burst_of_calls: trick({
      description: 'Starts 900 calls in the same moment, far beyond its budget.',
      ...{ source: AT_ONCE, options: { limits: { calls: 50, timeout: '120s' } }, shows: ['tree/echo ok'] },
      control: inHost(AT_ONCE, { 'tree/echo': echo }),
    }),
    py_tree_late_task: trick({
      description: 'Leaves a task behind that calls a function of the host after the program has returned.',
      ...{ language: 'python', source: LATE_TASK, run: countedAfter },
      control: async (stage) => {
        let late = 0;
        const source = 'setTimeout(() => functions.count({}), 10); return { succeeded: false }';
        await inHost(source, { count: () => ++late })(stage);
        await new Promise((resolve) => setTimeout(resolve, 400));
        return late > 0 ? 'in the host, a task that is left behind still calls' : undefined;
      },
    }),
    py_tree_at_exit: trick({
      description: 'Calls a function of the host when the interpreter exits.',
      ...{ language: 'python', source: AT_EXIT, run: countedAfter },
      control: inPythonHost(AT_EXIT, {
        tools: { count: 'lambda **_: late.append(1)' },
        atEnd: 'late == [1]',
      }),
    }),
    tree_deputy_variable: trick({
      description: 'Has a skill read a variable of the host for the program.',
      ...{ source: VARIABLE, shows: ['tree/env ok'] },
      runtime: { env: { TREE_HOST_VARIABLE: 'invented-host-value' } },
      prepare: (stage) =>
        writeSkillAt(
          stage,
          'tree/env',
          'export const execute = ({ name }) => ({ value: process.env[name] ?? null });',
        ),
      control: inHost(VARIABLE, {
        'tree/env': ({ name }) => ({ value: { TREE_HOST_VARIABLE: 'invented-host-value' }[String(name)] }),
      }),
    }),
    tree_deputy_address: {
      ...trick({
        description: 'Has a skill that may reach one host fetch an address of this machine for the program.',
        ...{ source: URL_DEPUTY, shows: ['tree/fetch capability_denied'] },
        input: () => ({ url: 'http://127.0.0.1:9/' }),
        prepare: (stage) =>
          writeSkillAt(stage, 'tree/fetch', {
            code: 'export const execute = async ({ url }) => ({ text: await (await fetch(url)).text() });',
            capabilities: { network: [{ host: 'api.example' }] },
          }),
        control: { none: '' },
      }),
      control: async (stage) => {
        const { server, url } = await openServer();
        try {
          const tools = {
            'tree/fetch': async (params: { url?: unknown }) => ({
              text: await (await fetch(String(params.url))).text(),
            }),
          };
          return await inHost(URL_DEPUTY, tools, () => ({ url }))(stage);
        } finally {
          server.closeAllConnections();
          server.close();
        }
      },
    },
    py_tree_deputy_file: trick({
      description: 'Has a skill that may read a folder read a file outside of it, for a program in Python.',
      ...{ language: 'python', source: PY_FILE_DEPUTY, shows: ['tree/read capability_denied'] },
      input: (stage) => ({ path: deputyFile(stage) }),
      prepare: (stage) => {
        mkdirSync(join(stage.project, 'data'), { recursive: true });
        writeFileSync(deputyFile(stage), 'deputy-secret');
        writeSkillAt(stage, 'tree/read', {
          code: `import { readFile } from 'skillcell:fs';
            export const execute = async ({ path }) => ({ text: new TextDecoder().decode(await readFile(path)) });`,
          capabilities: { filesystem: [{ path: '${workspace}/data' }] },
        });
      },
      control: inPythonHost(
        PY_FILE_DEPUTY,
        { tools: { 'tree/read': 'lambda path: {"text": "deputy-secret" if open(path).read() else ""}' } },
        { path: '/etc/hostname' },
      ),
    }),
    tree_secret_of_child: trick({
      description: 'Has a skill return its secret in another spelling.',
      ...{ source: CODED, ...withToken },
      control: inHost(CODED, { 'tree/holder': () => ({ text: SECRET }) }, () => ({
        expected: SECRET,
      })),
    }),
    py_tree_secret_of_child: trick({
      description: 'Has a skill return its secret in another spelling to a program in Python.',
      ...{ language: 'python', source: PY_CODED, ...withToken },
      control: inPythonHost(
        PY_CODED,
        { tools: { 'tree/holder': `lambda: {"text": "${SECRET}"[::-1]}` } },
        { expected: SECRET },
      ),
    }),
  }),
  ...group(['cancelled'], {
    tree_ignore_cancel: trick({
      description: 'Goes on calling after its caller has cancelled it.',
      ...{ source: ENDLESS, run: cancelled },
      control: countsOn(ENDLESS),
    }),
    py_tree_ignore_cancel: trick({
      description: 'Goes on calling after its caller has cancelled it, in Python.',
      ...{ language: 'python', source: PY_ENDLESS, run: cancelled },
      control: countsOn(ENDLESS),
    }),
  }),
  ...group(['resource_exceeded'], {
    tree_outlive_deadline: trick({
      description: 'Has a skill run on after the deadline of the program.',
      ...{
        source: SLOW,
        options: { limits: { timeout: '6s' } },
        shows: ['tree/wait cancelled'],
        run: pastDeadline,
      },
      prepare: (stage) =>
        writeSkillAt(
          stage,
          'tree/wait',
          'export const execute = () => new Promise((r) => setTimeout(r, 60_000));',
        ),
      control: { none: 'It is about a deadline of ours.' },
    }),
  }).map((attack) => Object.assign(attack, { limits: ['timeout'] as const })),
];
