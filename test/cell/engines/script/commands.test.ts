/**
 * Commands of Agent Skills folders in a jail: what a script gets, and what becomes of its output, exit code and files.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  parsePolicy,
  type CallEvent,
  type CommandResult,
  type ExecOptions,
  type Outcome,
} from '../../../../src/index.ts';
import { sha256 } from '../../../../src/load/digest.ts';
import { openTestRuntime } from '../../test-runtime.ts';
import { writeAgentSkill } from '../../../write-agent-skill.ts';
import { dedent } from '../../../write-skill.ts';

const open = openTestRuntime({ pool: { size: 0 } });
afterAll(() => open.close());

const skill = writeAgentSkill(open.folder, {
  files: {
    'scripts/facts.py': `
      import json, os, sys
      print(json.dumps({"argv": sys.argv, "cwd": os.getcwd(), "path": sys.path[0], "name": __name__, "file": __file__,
                        "stdin": sys.stdin.read(), "env": sorted(os.environ)}))
    `,
    'scripts/end.py': `
      import sys
      exec(sys.argv[1])
    `,
    'scripts/helper.py': 'VALUE = "of the skill"\n',
    'scripts/streams.sh': `
      #!/bin/bash
      echo "out $1"; echo "err $1" > /dev/stderr; cat; exit 7
    `,
    'scripts/own.sh': 'kill -s "$1" $$\n',
    'scripts/late.sh': '(sleep 30; echo late) & echo now\n',
    'scripts/net.sh': 'curl -s http://unlisted.test/from-a-shell\n',
    'scripts/common.js': `
      const fs = require('node:fs');
      console.log(JSON.stringify({ argv: process.argv.slice(1), stdin: fs.readFileSync(0, 'utf8'), main: require.main === module }));
      console.error('err');
      process.exitCode = 5;
    `,
    'scripts/module.mjs':
      "import { argv } from 'node:process'; console.log(argv.slice(2).join()); throw new Error('of the script');\n",
    'scripts/typed.ts': 'const words: string[] = process.argv.slice(2); console.log(words.length);\n',
    'scripts/read.js':
      "try { require('node:fs').readFileSync('/etc/hostname'); } catch (error) { console.log(error.code); }\n",
    'pkg/__init__.py': '',
    'pkg/tool.py':
      'import sys\nfrom . import other\nprint(sys.argv[1:], other.NAME, __package__, sys.argv[0])\n',
    'pkg/other.py': 'NAME = "other"\n',
  },
});

function workspace(): string {
  const folder = mkdtempSync(join(open.folder, 'workspace-'));
  chmodSync(folder, 0o777);
  return folder;
}

async function run(command: string[], options: ExecOptions = {}, dir = skill): Promise<CommandResult> {
  const outcome = await call(command, options, dir);
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error));
  return outcome.result as CommandResult;
}

function call(command: string[], options: ExecOptions = {}, dir = skill): Promise<Outcome> {
  return open.runtime.exec(dir, command, { execution: 'subprocess', ...options, reject: false });
}

describe('a Python script', () => {
  test('gets its arguments, its standard input, and the workspace as its working directory', async () => {
    const { stdout, exit_code } = await run(['python', 'scripts/facts.py', 'a', 'ü b'], {
      stdin: 'text ✓\n',
      workspace: workspace(),
    });
    expect(exit_code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      argv: ['/skill/scripts/facts.py', 'a', 'ü b'],
      cwd: '/workspace',
      path: '/skill/scripts',
      name: '__main__',
      file: '/skill/scripts/facts.py',
      stdin: 'text ✓\n',
    });
  });

  test('works in scratch space without a workspace, and sees no variable of the host', async () => {
    const facts = JSON.parse((await run(['python', 'scripts/facts.py'])).stdout) as {
      cwd: string;
      env: string[];
    };
    expect(facts.cwd).toBe('/tmp');
    expect(facts.env).toEqual([
      ...['HOME', 'LANG', 'PATH', 'PWD', 'PYTHONDONTWRITEBYTECODE', 'PYTHONUTF8', 'TMPDIR'],
    ]);
  });

  test.each([
    ['pass', 0, ''],
    ['raise SystemExit', 0, ''],
    ['sys.exit(3)', 3, ''],
    ['sys.exit(True)', 1, ''],
    ['sys.exit("reason")', 1, 'reason\n'],
    ['sys.exit(-1)', 255, ''],
    ['sys.exit(256)', 0, ''],
    ['exit(4)', 4, ''],
    ['import os; os._exit(9)', 9, ''],
    ['import atexit; atexit.register(print, "bye", file=sys.stderr)', 0, 'bye\n'],
    [
      'import threading, time; threading.Thread(target=lambda: (time.sleep(0.2), print("t", file=sys.stderr))).start()',
      0,
      't\n',
    ],
  ])('that runs %j ends with its exit code, as in CPython', async (code, exit, stderr) => {
    const native = nativePython(code);
    expect(native).toEqual([exit, stderr]);
    const result = await run(['python', 'scripts/end.py', code]);
    expect([result.exit_code, result.stderr]).toEqual(native);
  });

  test('that raises prints the traceback that CPython prints, and ends with 1', async () => {
    const { exit_code, stderr } = await run(['python', 'scripts/end.py', '1 / 0']);
    expect(exit_code).toBe(1);
    expect(stderr).toBe(
      [
        'Traceback (most recent call last):',
        '  File "/skill/scripts/end.py", line 2, in <module>',
        '    exec(sys.argv[1])',
        '  File "<string>", line 1, in <module>',
        'ZeroDivisionError: division by zero',
        '',
      ].join('\n'),
    );
  });

  test('runs as a module with the bundle as its path', async () => {
    const { stdout } = await run(['python', '-m', 'pkg.tool', 'a']);
    expect(stdout).toBe("['a'] other pkg /skill/pkg/tool.py\n");
  });

  test('runs no module of Python itself', async () => {
    const outcome = await call(['python', '-m', 'timeit', 'print(1)']);
    expect(outcome).toMatchObject({ ok: false, error: { code: 'invalid_params' } });
  });

  test('is denied what is not granted, and its end is still a result', async () => {
    const outcome = await call(['python', 'scripts/end.py', 'open("/etc/hostname")']);
    expect(outcome).toMatchObject({ ok: true, result: { exit_code: 1 } });
    expect(outcome.capabilities.denied).toEqual([
      { capability: 'filesystem', asked: 'read /etc/hostname', declared: 'not granted' },
    ]);
    expect(open.runtime.audit.show(outcome.call_id)?.receipt).toMatchObject({ code: 'ok', denied_count: 1 });
  });

  test('starts no process without a grant', async () => {
    const outcome = await call(['python', 'scripts/end.py', 'import os; os.system("id")']);
    expect(outcome.capabilities.denied).toMatchObject([{ capability: 'process', asked: 'start id' }]);
  });
});

function nativePython(code: string): [number | null, string] {
  const args = ['-c', 'import sys\nexec(sys.argv[1])', code];
  const { status, stderr } = spawnSync('/usr/bin/python3', args, { encoding: 'utf8' });
  return [status, stderr];
}

describe('code that comes with the call', () => {
  test('runs with the modules of the skill, and its digest is in the outcome and the receipt', async () => {
    const stdin =
      'import sys\nfrom scripts.helper import VALUE\nprint(VALUE, sys.argv, repr(sys.stdin.read()))\n';
    const outcome = await call(['python', '-', 'a'], { stdin });
    expect(outcome).toMatchObject({
      ok: true,
      result: { stdout: "of the skill ['-', 'a'] ''\n" },
      execution: { generated: sha256(stdin) },
    });
    const receipt = open.runtime.audit.show(outcome.call_id)?.receipt;
    expect(receipt?.execution).toMatchObject({ generated: sha256(stdin) });
  });

  test('may be a file of the workspace, but not one behind a link that leads out of it', async () => {
    const folder = workspace();
    writeFileSync(join(folder, 'own.py'), 'print("own", __file__)\n');
    writeFileSync(join(open.folder, 'outside.py'), 'print("outside")\n');
    symlinkSync(join(open.folder, 'outside.py'), join(folder, 'link.py'));
    const outcome = await call(['python', 'own.py'], { workspace: folder });
    expect(outcome).toMatchObject({
      ok: true,
      result: { stdout: 'own /workspace/own.py\n' },
      execution: { generated: sha256('print("own", __file__)\n') },
    });
    const linked = await call(['python', 'link.py'], { workspace: folder });
    expect(linked).toMatchObject({ ok: false, error: { code: 'invalid_params' } });
  });

  test('does not run where the policy says so', async () => {
    const policy = parsePolicy('generated_code: false', { file: 'policy' });
    const strict = openTestRuntime({ pool: { size: 0 }, policy });
    const outcome = await strict.runtime.exec(skill, ['python', '-'], { stdin: 'print(1)', reject: false });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
    await strict.close();
  });
});

describe('a shell script', () => {
  test('has two streams, a standard input and an exit code', async () => {
    for (const command of [
      ['bash', 'scripts/streams.sh', 'a'],
      ['./scripts/streams.sh', 'a'],
    ])
      expect(await run(command, { stdin: 'in' })).toEqual({
        exit_code: 7,
        stdout: 'out a\nin',
        stderr: 'err a\n',
        files: [],
      });
  });

  test('that a signal ends has the exit code of a shell', async () => {
    expect((await run(['sh', 'scripts/own.sh', 'TERM'])).exit_code).toBe(128 + 15);
    expect((await run(['sh', 'scripts/own.sh', 'KILL'])).exit_code).toBe(128 + 9);
  });

  test('leaves nothing behind', async () => {
    expect((await run(['bash', 'scripts/late.sh'])).stdout).toBe('now\n');
  });

  test('reaches no host, and the attempt of a program that it starts is in the outcome and the receipt', async () => {
    const outcome = await call(['bash', 'scripts/net.sh']);
    const asked = 'GET http://unlisted.test/from-a-shell';
    expect(outcome.capabilities.denied).toMatchObject([{ capability: 'network', asked }]);
    expect(open.runtime.audit.show(outcome.call_id)?.receipt.denied).toMatchObject([{ asked }]);
  });
});

describe('files of the skill', () => {
  const copy = `
    import os, shutil
    shutil.copytree("/skill/pkg", "/tmp/copy")
    open("/tmp/copy/new.txt", "w").close()
    with open("/tmp/copy/other.py", "a") as file: print(file.write("# edited"))
    for act in (lambda: open("/skill/pkg/other.py", "a"), lambda: os.chmod("/skill/pkg", 0o777), lambda: os.remove("/skill/pkg/other.py")):
        try: act()
        except OSError as error: print("no")
  `;

  test('can be copied and edited, and cannot be changed themselves', async () => {
    const { stdout, stderr } = await run(['python', '-'], { stdin: dedent(copy) });
    expect([stdout, stderr]).toEqual(['8\nno\nno\nno\n', '']);
  });
});

describe('a Node script', () => {
  test('is the main module, with its arguments and its standard input', async () => {
    const { stdout, stderr, exit_code } = await run(['node', 'scripts/common.js', 'a'], { stdin: 'in' });
    expect(JSON.parse(stdout)).toEqual({ argv: ['/skill/scripts/common.js', 'a'], stdin: 'in', main: true });
    expect([stderr, exit_code]).toEqual(['err\n', 5]);
  });

  test('may be a module or TypeScript, and an error ends it with 1', async () => {
    const failed = await run(['node', 'scripts/module.mjs', 'a', 'b']);
    expect(failed).toMatchObject({
      exit_code: 1,
      stdout: 'a,b\n',
      stderr: expect.stringContaining('of the script'),
    });
    expect(await run(['node', 'scripts/typed.ts', 'a', 'b'])).toMatchObject({ exit_code: 0, stdout: '2\n' });
  });

  test('is denied what is not granted', async () => {
    const outcome = await call(['node', 'scripts/read.js']);
    expect(outcome).toMatchObject({ ok: true, result: { stdout: 'ERR_ACCESS_DENIED\n' } });
    expect(outcome.capabilities.denied).toMatchObject([{ asked: 'read /etc/hostname' }]);
  });
});

describe('the output of a command', () => {
  test('arrives while it runs, by stream and unchanged', async () => {
    const pieces: Record<string, Uint8Array[]> = { stdout: [], stderr: [] };
    const events: CallEvent[] = [];
    const code = 'sys.stdout.buffer.write(b"\\xff\\x00a"); sys.stderr.write("e")';
    const outcome = await call(['python', 'scripts/end.py', code], {
      onOutput: (chunk, stream) => pieces[stream]?.push(chunk),
      onEvent: (event) => events.push(event),
    });
    expect(Buffer.concat(pieces['stdout'] ?? [])).toEqual(Buffer.from([0xff, 0, 0x61]));
    expect(Buffer.concat(pieces['stderr'] ?? []).toString()).toBe('e');
    const logs = events.filter((event) => event.type === 'log');
    expect(logs.map(({ stream, text }) => [stream, text])).toEqual(
      expect.arrayContaining([
        ['stdout', '\ufffd\0a'],
        ['stderr', 'e'],
      ]),
    );
    expect(outcome).toMatchObject({ ok: true, logs: '', result: { stdout: '\ufffd\0a', stderr: 'e' } });
    expect(outcome.warnings).toContainEqual(expect.stringContaining('stdout is not UTF-8'));
  });

  test('is whole, even if it is large', async () => {
    const code = 'print("ü" * 200_000); print("e" * 100_000, file=sys.stderr)';
    const { stdout, stderr } = await run(['python', 'scripts/end.py', code]);
    expect([stdout, stderr]).toEqual([`${'ü'.repeat(200_000)}\n`, `${'e'.repeat(100_000)}\n`]);
  });

  test('beyond the limit ends the call', async () => {
    const outcome = await call(['python', 'scripts/end.py', 'while True: print("x" * 1000)']);
    expect(outcome).toMatchObject({
      ok: false,
      error: { code: 'resource_exceeded', detail: { limit: 'output' } },
      logs: expect.stringContaining('more bytes of output were not kept'),
    });
  });
});

describe('a limit', () => {
  test('of time ends the call with an error', async () => {
    const outcome = await call(['python', 'scripts/end.py', 'import time; time.sleep(60)'], {
      timeout: 1500,
    });
    expect(outcome).toMatchObject({ ok: false, error: { detail: { limit: 'timeout' } } });
  });

  test.each([['python', ['scripts/end.py', 'x = bytearray(1 << 30)']]])(
    'of memory ends %s with an error',
    async (program, args) => {
      const outcome = await call([program, ...args]);
      expect(outcome).toMatchObject({ ok: false, error: { detail: { limit: 'memory' } } });
      expect(outcome.logs).toContain('MemoryError');
    },
  );

  test('does not turn words about it into an error', async () => {
    const result = await run([
      'python',
      'scripts/end.py',
      'sys.exit("Out of memory: cannot allocate memory")',
    ]);
    expect(result.exit_code).toBe(1);
  });

  test('and a cancellation leave no cell behind', async () => {
    const controller = new AbortController();
    const running = call(
      ['python', 'scripts/end.py', 'print("up", flush=True)\nimport time; time.sleep(60)'],
      {
        signal: controller.signal,
        onOutput: () => controller.abort(),
      },
    );
    expect(await running).toMatchObject({ ok: false, error: { code: 'cancelled' } });
  });
});

describe('a command with a writable workspace', () => {
  const writer = writeAgentSkill(open.folder, {
    files: {
      'scripts/work.sh':
        'echo new > new.txt; echo more >> old.txt; rm gone.txt; mkdir -p d; ln -s /etc d/link; cat same.txt\n',
    },
    manifest: {
      capabilities: { filesystem: [{ path: '${workspace}', access: 'read-write' }] },
      limits: { processes: 8 },
    },
  });

  test('reports the files that it changed, and follows no link', async () => {
    const folder = workspace();
    for (const name of ['old', 'gone', 'same']) {
      writeFileSync(join(folder, `${name}.txt`), `${name}\n`);
      chmodSync(join(folder, `${name}.txt`), 0o666);
    }
    mkdirSync(join(folder, 'untouched'));
    const { files, stdout } = await run(['bash', 'scripts/work.sh'], { workspace: folder }, writer);
    expect(stdout).toBe('same\n');
    expect(files).toEqual([
      { path: '/workspace/d/link', bytes: 4, change: 'created' },
      { path: '/workspace/gone.txt', bytes: 0, change: 'removed' },
      { path: '/workspace/new.txt', bytes: 4, change: 'created' },
      { path: '/workspace/old.txt', bytes: 9, change: 'changed' },
    ]);
  });
});
