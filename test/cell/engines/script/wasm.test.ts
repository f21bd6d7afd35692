/**
 * Python commands in WebAssembly: the same bytes, exit codes and files as in a jail, the same limits, and nothing left of
 * an earlier call.
 *
 * @module
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { CommandResult, ExecOptions, Outcome } from '../../../../src/index.ts';
import { openTestRuntime } from '../../test-runtime.ts';
import { writeAgentSkill } from '../../../write-agent-skill.ts';

const open = openTestRuntime({ pool: { size: 0 } });
afterAll(() => open.close());

const FILES = {
  'scripts/run.py': 'import sys\nexec(sys.argv[1])\n',
  'scripts/facts.py': `
    import json, os, sys
    print(json.dumps({"argv": sys.argv, "cwd": os.getcwd(), "path": sys.path[0], "name": __name__, "file": __file__,
                      "stdin": sys.stdin.read(), "seekable": sys.stdin.seekable(), "env": dict(sorted(os.environ.items()))}))
  `,
  'scripts/options.py': `
    import argparse
    parser = argparse.ArgumentParser(prog="options", description="Adds numbers.")
    parser.add_argument("numbers", type=int, nargs="+")
    print(sum(parser.parse_args().numbers))
  `,
  'scripts/own.py': 'import json, helper\nprint(json.NAME, helper.VALUE)\n',
  'scripts/json.py': 'NAME = "shadows the library"\n',
  'scripts/helper.py': 'VALUE = "of the skill"\n',
  'scripts/state.py': `
    import builtins, json, os, string, sys
    seen = [getattr(builtins, "mark", None), getattr(string, "mark", None), os.environ.get("MARK"), os.listdir("/tmp"),
            sys.getrecursionlimit(), os.getcwd()]
    builtins.mark = string.mark = os.environ["MARK"] = "left behind"
    open("/tmp/mark", "w").close()
    sys.setrecursionlimit(333)
    os.chdir("/skill")
    print(json.dumps(seen))
  `,
  'pkg/__init__.py': '',
  'pkg/tool.py':
    'import sys\nfrom . import other\nprint(sys.argv, other.NAME, __package__, __name__, __spec__.name)\n',
  'pkg/other.py': 'NAME = "other"\n',
};
// The copy of json.py is in the way of scripts that need the library's.
const { 'scripts/json.py': _, 'scripts/own.py': __, ...PLAIN } = FILES;
const skill = writeAgentSkill(open.folder, { files: PLAIN });
const shadowing = writeAgentSkill(open.folder, {
  files: { ...FILES, 'scripts/state.py': '', 'scripts/facts.py': '' },
});

type Seen = CommandResult & { content: Record<string, string> };

async function call(command: string[], options: ExecOptions = {}, dir = skill): Promise<Outcome> {
  return open.runtime.exec(dir, command, { execution: 'wasm', ...options, reject: false });
}

async function run(command: string[], options: ExecOptions = {}, dir = skill): Promise<CommandResult> {
  const outcome = await call(command, options, dir);
  if (!outcome.ok) throw new Error(JSON.stringify([outcome.error, outcome.logs]));
  return outcome.result as CommandResult;
}

const python = (code: string): string[] => ['python', 'scripts/run.py', code];

interface Case {
  command: string[];
  stdin?: string;
  dir?: string;
}

/** Runs a command in a new workspace; also returns the bytes of the files there afterwards. */
async function seenIn(execution: 'wasm' | 'subprocess', { command, stdin, dir }: Case): Promise<Seen> {
  const workspace = mkdtempSync(join(open.folder, 'workspace-'));
  chmodSync(workspace, 0o777);
  writeFileSync(join(workspace, 'input.txt'), 'one\ntwo\n');
  writeFileSync(join(workspace, 'model.py'), 'from scripts.helper import VALUE\nprint(VALUE, __file__)\n');
  for (const name of readdirSync(workspace)) chmodSync(join(workspace, name), 0o666);
  const options = {
    execution,
    workspace,
    grants: { write: ['.'] },
    ...(stdin === undefined ? {} : { stdin }),
  };
  const result = await run(command, options, dir);
  const names = readdirSync(workspace).toSorted();
  return {
    ...result,
    stderr: withoutMarkers(result.stderr),
    content: Object.fromEntries(names.map((name) => [name, readFileSync(join(workspace, name), 'base64')])),
  };
}

/** Pythons differ in which part of a line they underline, where their library is, and the numbers of system errors. */
function withoutMarkers(stderr: string): string {
  return stderr
    .replaceAll(/^\s*[\^~]+\n/gm, '')
    .replaceAll(/File "(?:<frozen (\w+)>|\/lib\/python314\.zip\/(\w+)\.py)", line \d+/g, 'File "$1$2"')
    .replaceAll(/\[Errno \d+\]/g, '[Errno]');
}

const CASES: Record<string, Case> = {
  'arguments, standard input, directory and environment': {
    command: ['python', 'scripts/facts.py', 'a', 'ü b', ''],
    stdin: 'text ✓\n',
  },
  'an empty standard input': { command: python('print(repr(sys.stdin.read()), sys.stdin.name)') },
  'binary standard input and output': {
    command: python('sys.stdout.buffer.write(bytes(range(128)) + sys.stdin.buffer.read()[::-1])'),
    stdin: 'äö\0',
  },
  'lines of the standard input': { command: python('print([*map(str.strip, sys.stdin)])'), stdin: 'a\nb\n' },
  'unicode on both streams': { command: python('print("✓ ü 🎉"); print("é", "\\udc80", file=sys.stderr)') },
  'large output on both streams': {
    command: python(
      'print("ü" * 200_000); print("e" * 100_000, file=sys.stderr); print("\\n".join(map(str, range(20_000))))',
    ),
  },
  'usage of argparse': { command: ['python', 'scripts/options.py', '--help'] },
  'a wrong argument of argparse': { command: ['python', 'scripts/options.py', 'x'] },
  'a right argument of argparse': { command: ['python', 'scripts/options.py', '20', '22'] },
  'an uncaught exception': { command: python('print("before"); 1 / 0') },
  'a chain of exceptions': {
    command: python('try:\n  {}["a"]\nexcept KeyError as error:\n  raise ValueError("ü") from error'),
  },
  'a missing module': { command: python('import surely_not_there') },
  'a syntax error': { command: ['python', '-'], stdin: 'print("a"\n\n' },
  'a missing file': { command: python('open("nowhere.txt")') },
  'exit handlers': {
    command: python(
      'import atexit; atexit.register(print, "first"); atexit.register(print, "second"); sys.exit(5)',
    ),
  },
  'files read and written by relative paths': {
    command: python(
      'import os, shutil; text = open("input.txt").read(); os.makedirs("a/b"); open("a/b/c.txt", "w").write(text); shutil.copy("input.txt", "copy.txt"); os.remove("input.txt"); shutil.rmtree("a"); print(sorted(os.listdir()))',
    ),
  },
  'a file that is never closed': {
    command: python(
      'import builtins; kept = builtins.kept = open("kept.txt", "w"); kept.write("kept")\nother = open("other.bin", "wb"); other.write(b"\\xff\\x00")',
    ),
  },
  'a module of the bundle that shadows the library': {
    command: ['python', 'scripts/own.py'],
    dir: shadowing,
  },
  'python -m with a module of the bundle': { command: ['python', '-m', 'pkg.tool', 'a'] },
  'code from the standard input': {
    command: ['python', '-', 'a'],
    stdin:
      'import sys\nfrom scripts.helper import VALUE\nprint(VALUE, sys.argv, repr(sys.stdin.read()), __name__)\n',
  },
  'code from the command': {
    command: ['python', '-c', 'import sys; print(sys.argv, sys.path[0]); sys.exit(2)', 'a'],
  },
  'code from the workspace': { command: ['python', 'model.py'] },
  'a class that is pickled by __main__': {
    command: ['python', '-'],
    stdin: 'import pickle\nclass A:\n  x = 1\nprint(pickle.loads(pickle.dumps(A())).x, A.__module__)\n',
  },
};

describe('the same bytes in Wasm and in a jail', () => {
  test.each(Object.entries(CASES))('%s', async (_name, one) => {
    const native = await seenIn('subprocess', one);
    expect(await seenIn('wasm', one)).toEqual(native);
  });

  test.each([
    ['pass', 0],
    ['raise SystemExit', 0],
    ['sys.exit(3)', 3],
    ['sys.exit(True)', 1],
    ['sys.exit("reason")', 1],
    ['sys.exit(["a", 1])', 1],
    ['sys.exit(-1)', 255],
    ['sys.exit(256)', 0],
    ['exit(4)', 4],
    ['import os; print("lost"[:0], end=""); os._exit(9)', 9],
    ['raise KeyboardInterrupt', 130],
    ['class Own(BaseException): pass\nraise Own("x")', 1],
    ['sys.stdout.close()', 0],
  ])('%j ends with %i', async (code, exit) => {
    const native = await seenIn('subprocess', { command: python(code) });
    expect(native.exit_code).toBe(exit);
    expect(await seenIn('wasm', { command: python(code) })).toEqual(native);
  });
});

describe('a call in Wasm', () => {
  test('sees nothing of an earlier one, even if that ended the process', async () => {
    const first = await run(['python', 'scripts/state.py']);
    expect(JSON.parse(first.stdout)).toEqual([null, null, null, [], 1000, '/tmp']);
    for (const command of [
      python('import os; os._exit(3)'),
      python('import os; os.abort()'),
      python('pass'),
    ]) {
      await run(command);
      expect(await run(['python', 'scripts/state.py'])).toEqual(first);
    }
  });

  test('draws other random numbers than an earlier one', async () => {
    const draw = python('import random, uuid; print(random.random(), uuid.uuid4())');
    expect((await run(draw)).stdout).not.toBe((await run(draw)).stdout);
  });

  test('passes its output on while it runs, by stream and unchanged', async () => {
    const pieces: Record<string, Uint8Array[]> = { stdout: [], stderr: [] };
    const outcome = await call(python('sys.stdout.buffer.write(b"\\xff\\x00a"); sys.stderr.write("e")'), {
      onOutput: (chunk, stream) => pieces[stream]?.push(chunk),
    });
    expect(Buffer.concat(pieces['stdout'] ?? [])).toEqual(Buffer.from([0xff, 0, 0x61]));
    expect(Buffer.concat(pieces['stderr'] ?? []).toString()).toBe('e');
    expect(outcome).toMatchObject({ ok: true, logs: '', result: { stdout: '\ufffd\0a', stderr: 'e' } });
    expect(outcome.warnings).toContainEqual(expect.stringContaining('stdout is not UTF-8'));
  });

  test('is denied what is not granted, and its end is still a result', async () => {
    const outcome = await call(python('import subprocess; subprocess.run(["id"])'));
    expect(outcome).toMatchObject({ ok: true, result: { exit_code: 1 }, execution: { mode: 'wasm' } });
    expect(outcome.capabilities.denied).toMatchObject([{ capability: 'process', asked: 'start id' }]);
    const written = await call(python('open("/workspace/x", "w")'), { workspace: open.folder });
    expect(written.capabilities.denied).toMatchObject([{ asked: 'write /workspace/x' }]);
  });

  test('chooses its exit code, but cannot forge an end or another reply, as in a jail', async () => {
    const frame = (body: string, then = 'pass'): string[] =>
      python(`import os; b = b'${body}'; os.write(3, len(b).to_bytes(4, "little") + b); ${then}`);
    const end = '{"t":"ended","exit_code":0}';
    const ends = [frame(end), frame(end, 'os._exit(7)'), frame(end, 'exit(7)'), frame(end + end)];
    const bodies = ['{"t":"result"}', '{"t":"error","type":"x"}', '{"t":"nothing"}'];
    for (const command of [...ends, ...bodies.map((body) => frame(body))])
      for (const execution of ['wasm', 'subprocess'] as const)
        expect(await call(command, { execution })).toMatchObject({
          ok: false,
          error: { code: 'skill_error' },
        });
    expect(await run(python('import os; os._exit(7)'))).toMatchObject({ exit_code: 7 });
    expect(await run(python('print("next")'))).toMatchObject({ stdout: 'next\n' });
  });

  test('runs no module of Python itself', async () => {
    const outcome = await call(['python', '-m', 'timeit', 'print(1)']);
    expect(outcome).toMatchObject({ ok: false, error: { code: 'invalid_params' } });
  });
});

describe('a limit in Wasm', () => {
  test('of time ends the call', async () => {
    for (const code of ['while True: pass', 'import time; time.sleep(60)']) {
      const outcome = await call(python(code), { timeout: 3000 });
      expect(outcome).toMatchObject({ ok: false, error: { detail: { limit: 'timeout' } } });
    }
  });

  test('of memory ends the call, with the traceback in the log', async () => {
    const outcome = await call(python('x = bytearray(1 << 30)'));
    expect(outcome).toMatchObject({ ok: false, error: { detail: { limit: 'memory' } } });
    expect(outcome.logs).toContain('MemoryError');
  });

  test('of output ends the call', async () => {
    const outcome = await call(python('while True: print("x" * 1000)'));
    expect(outcome).toMatchObject({ ok: false, error: { detail: { limit: 'output' } } });
  });

  test('of scratch space ends the call', async () => {
    const outcome = await call(python('open("/tmp/large", "wb").write(b"x" * (80 << 20))'), {
      memory: 512 << 20,
    });
    expect(outcome).toMatchObject({
      ok: false,
      error: { detail: { limit: expect.stringMatching(/scratch|memory/) } },
    });
  });

  test('of CPU time ends the call', async () => {
    const outcome = await call(python('while True: pass'), { grants: { limits: { cpu: 1000 } } });
    expect(outcome).toMatchObject({ ok: false, error: { detail: { limit: 'cpu' } } });
  });

  test('on nesting is an error of the script, as in CPython', async () => {
    const nested = await run(python('def f(): f()\nf()'));
    expect([nested.exit_code, nested.stderr]).toEqual([1, expect.stringContaining('RecursionError')]);
  });
});

describe('the mode of a command', () => {
  const modeOf = async (command: string[], options: ExecOptions = {}, dir = skill): Promise<unknown> => {
    const outcome = await open.runtime.exec(dir, command, { ...options, reject: false });
    return outcome.ok ? outcome.execution?.mode : outcome.error;
  };
  const mixed = writeAgentSkill(open.folder, {
    files: { 'a.py': 'print(1)\n', 'a.sh': 'echo 1\n', 'a.js': 'console.log(1)\n' },
  });

  test('is subprocess, unless the call asks for another', async () => {
    for (const command of [
      ['python', 'a.py'],
      ['sh', 'a.sh'],
      ['node', 'a.js'],
    ])
      expect(await modeOf(command, {}, mixed)).toBe('subprocess');
    expect(await modeOf(['python', 'a.py'], { execution: 'wasm' }, mixed)).toBe('wasm');
  });

  test('cannot be wasm for a shell, or for Python that may start processes or programs', async () => {
    expect(await modeOf(['sh', 'a.sh'], { execution: 'wasm' }, mixed)).toMatchObject({
      code: 'skill_unavailable',
      message: expect.stringContaining('only Python commands run in Wasm'),
      fix: expect.stringContaining('--execution subprocess'),
    });
    for (const grants of [{ limits: { processes: 2 } }, { programs: ['id'] }])
      expect(await modeOf(['python', 'a.py'], { execution: 'wasm', grants }, mixed)).toMatchObject({
        code: 'skill_unavailable',
      });
  });
});
