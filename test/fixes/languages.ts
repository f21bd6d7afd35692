/**
 * One skill per language that does what `op` says. Modules are imported late, so that the load does not already refuse
 * what the call is to be denied.
 *
 * @module
 */
import type { SkillText } from '../write-skill.ts';
import type { Row } from './scene.ts';

const PYTHON = `
import importlib, os, pathlib, subprocess, time

def fetch(p):
    library = importlib.import_module(".".join(["urllib", "request"]))
    request = library.Request(p["url"], method=p.get("method", "GET"), headers=p.get("headers", {}))
    return library.urlopen(request, timeout=20).read().decode()

def write(p):
    with open(p["path"], "w") as file:
        file.write("written")

OPS = {
    "fetch": fetch,
    "write": write,
    "read": lambda p: open(p["path"]).read(),
    "list": lambda p: sorted(os.listdir(p["path"])),
    "makedirs": lambda p: os.makedirs(p["path"], exist_ok=True),
    "mkdir": lambda p: pathlib.Path(p["path"]).mkdir(parents=True, exist_ok=True),
    "env": lambda p: os.environ[p["name"]],
    "send": lambda p: fetch({**p, "headers": {"Authorization": os.environ[p["name"]]}}),
    "spawn": lambda p: subprocess.run(["/bin/true"], check=True).returncode,
    "crowd": lambda p: [child.wait() for child in [subprocess.Popen(["/bin/sleep", "1"]) for _ in range(6)]],
    "sleep": lambda p: time.sleep(p["seconds"]),
    "spin": lambda p: sum(i for i in range(p["count"])),
    "memory": lambda p: len(bytearray(p["mib"] << 20)),
    "output": lambda p: "x" * (p["mib"] << 20),
    "scratch": lambda p: open("/tmp/large", "wb").write(bytes(p["mib"] << 20)),
    "abort": lambda p: (os.write(2, b"LLVM ERROR: out of memory\\n"), os.abort()),
    "fail": lambda p: 1 / 0,
    "value": lambda p: {1, 2},
    "echo": lambda p: p,
}

def execute(p):
    return OPS[p["op"]](p)
`;

const JAVASCRIPT = `
import { requireEnv } from 'skillcell:env';
import { readFile } from 'skillcell:fs';
const node = (name) => process.getBuiltinModule(name);
const OPS = {
  fetch: async ({ url, method }) => (await fetch(url, { method })).text(),
  get: ({ url }) => new Promise((resolve, reject) => {
    node('node:http').get(url, (answer) => resolve(answer.resume().statusCode)).on('error', reject);
  }),
  read: ({ path }) => readFile(path, 'utf8'),
  write: ({ path }) => node('node:fs').writeFileSync(path, 'written'),
  mkdir: ({ path }) => node('node:fs').mkdirSync(path, { recursive: true }),
  env: ({ name }) => requireEnv(name),
  spawn: () => {
    const { error, status } = node('node:child_process').spawnSync('/bin/true');
    if (error) throw error;
    return status;
  },
  spin: ({ count }) => { let sum = 0; for (let i = 0; i < count; i++) sum += i; return sum; },
  memory: ({ mib }) => new Uint8Array(mib * 1048576).fill(1).length,
  output: ({ mib }) => 'x'.repeat(mib * 1048576),
  fail: () => { throw new TypeError('on purpose'); },
  echo: (params) => params,
};
export const execute = async (params) => (await OPS[params.op](params)) ?? null;
`;

export type Language = 'python' | 'node' | 'python in wasm' | 'js in wasm';
export const LANGUAGES: readonly Language[] = ['python', 'node', 'python in wasm', 'js in wasm'];
export const WRITING: readonly Language[] = ['python', 'node'];
export const NATIVE: readonly Language[] = ['python', 'node'];

/** The skill and the mode of a row in this language. */
export function inLanguage(
  language: Language,
  manifest: Record<string, unknown> = {},
): Pick<Row, 'skill' | 'options'> {
  const isPython = language.startsWith('python');
  const isWasm = language.endsWith('wasm');
  const skill: SkillText = {
    manifest: {
      entry: isPython ? 'skill.py' : 'skill.js',
      execution: isWasm ? ['wasm'] : ['subprocess'],
      ...manifest,
    },
    files: isPython ? { 'skill.py': PYTHON } : { 'skill.js': JAVASCRIPT },
  };
  return { skill };
}
