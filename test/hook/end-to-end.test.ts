/**
 * A command of an agent from the hook's input to its output: what the hook makes of it prints, byte by byte, what the command
 * prints without it. Without it, it runs in a jail that has no network and may change nothing.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openCommandLine } from '../cli/command.ts';
import { dedent } from '../write-skill.ts';

const line = openCommandLine();
const requests: string[] = [];
const server = createServer(({ url = '' }, response) => {
  requests.push(url);
  response.end('reached');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
afterAll(() => {
  server.close().closeAllConnections();
  line.close();
});

const NOBODY = 54_321;
const LONG = 120_000;
const project = join(line.folder, 'my project');
const S = '.claude/skills/forms/scripts';
const FILES: Readonly<Record<string, string>> = {
  'form.txt': 'name: Ann\nsize: 3\n',
  'rows.txt': 'one\ntwo\n',
  '.claude/skills/forms/SKILL.md':
    '---\nname: forms\ndescription: Fields of forms.\n---\n\nRun the scripts.\n',
  '.claude/skills/forms/names.json': '["name", "size"]',
  [`${S}/helper.py`]: 'def fields(text):\n    return dict(row.split(": ") for row in text.splitlines())\n',
  [`${S}/check.py`]: `
    import json, os, sys
    from helper import fields
    names = json.load(open(os.path.join(os.path.dirname(__file__), "..", "names.json")))
    found = fields(open(sys.argv[1], encoding="utf-8").read())
    for name in names:
        print(name, found.get(name), flush=True)
    sys.stdout.buffer.write(b"\\xff\\x00 bytes\\n")
    sys.stderr.write("checked %d of %s\\n" % (len(found), sys.argv[2:]))
    sys.exit(7)
  `,
  [`${S}/fail.py`]: 'import sys\nsys.exit("no form: " + " ".join(sys.argv[1:]))\n',
  [`${S}/input.py`]: 'import sys\nprint("%r" % sys.stdin.read())\n',
  [`${S}/count.sh`]: `
    #!/bin/bash
    set -u
    wc -l < "$1" | tr -d ' '
    echo "arguments: $#: $*" >&2
    while read -r row; do echo "row $row"; done
    exit 4
  `,
  [`${S}/upper.js`]: `
    const { readFileSync } = require('node:fs');
    process.stdout.write(readFileSync(process.argv[2], 'utf8').toUpperCase());
    console.error(process.argv.slice(3));
    process.exitCode = 5;
  `,
  [`${S}/fetch.sh`]: `curl -sSf -m 5 http://127.0.0.1:${port}/from-curl || echo "curl ended with $?"\n`,
  [`${S}/connect.py`]: `
    import socket
    try:
        socket.create_connection(("127.0.0.1", ${port}), 5)
        print("connected")
    except OSError as error:
        print("refused", error.errno)
  `,
};
for (const [path, text] of Object.entries(FILES)) {
  mkdirSync(join(project, path, '..'), { recursive: true });
  writeFileSync(join(project, path), path.endsWith('.txt') ? text : dedent(text));
  chmodSync(join(project, path), 0o755);
}

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** The bytes, as latin1. */
async function run(program: string, args: string[], { uid }: { uid?: number } = {}): Promise<Ended> {
  const child = spawn(program, args, {
    cwd: project,
    env: { ...process.env, SKILLCELL_HOME: join(line.folder, 'home'), NO_COLOR: '1', LC_ALL: 'C.UTF-8' },
    // Open and silent, as the standard input of an agent's tool may be.
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const ended: Ended = { code: -1, stdout: '', stderr: '' };
  child.stdout.setEncoding('latin1').on('data', (text: string) => (ended.stdout += text));
  child.stderr.setEncoding('latin1').on('data', (text: string) => (ended.stderr += text));
  [ended.code] = (await once(child, 'close')) as [number];
  return ended;
}

/** What the hook makes of the command; the input is that of the documentation. */
async function hooked(command: string): Promise<string> {
  const event = {
    session_id: 'abc123',
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command },
    cwd: project,
  };
  const { code, stdout, stderr } = await line.run(['hook'], { input: JSON.stringify(event), cwd: project });
  expect([code, stderr]).toEqual([0, '']);
  const answer = JSON.parse(stdout) as { hookSpecificOutput: { updatedInput: { command: string } } };
  return answer.hookSpecificOutput.updatedInput.command;
}

async function withHook(command: string): Promise<Ended> {
  return await run('/bin/bash', ['-c', await hooked(command)]);
}

function withoutHook(command: string): Promise<Ended> {
  const jail = ['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL', '--ro-bind', '/', '/'];
  const mounts = ['--dev', '/dev', '--proc', '/proc', '--setenv', 'PYTHONDONTWRITEBYTECODE', '1'];
  const isRoot = process.getuid?.() === 0;
  // Nothing may wait for the input of the control either.
  const args = [...jail, ...mounts, '--chdir', project, '/bin/bash', '-c', `{ ${command}\n} <&3 3<&-`];
  return run('/bin/bash', ['-c', 'exec 3</dev/null; exec bwrap "$@"', 'bash', ...args], {
    ...(isRoot ? { uid: NOBODY } : {}),
  });
}

describe('a command of a skill prints with the hook what it prints without it', () => {
  test.each([
    ['in Python', `python3 ${S}/check.py form.txt`],
    ['in Python, with arguments', `python3 ${S}/check.py form.txt 'a b' "c'd" '$HOME' ''`],
    ['with an absolute path', `python3 "$PWD/${S}/check.py" "$PWD/form.txt"`],
    ['that ends with a message', `python3 ${S}/fail.py a --b=c`],
    ['in bash', `bash ${S}/count.sh form.txt a b < rows.txt`],
    ['in bash, without input', `bash ${S}/count.sh form.txt`],
    ['in Node', `node ${S}/upper.js form.txt a "b c"`],
    ['by its first line', `./${S}/count.sh form.txt < /dev/null`],
    ['after a pipe', `cat rows.txt | python3 ${S}/input.py | tr a-z A-Z`],
    ['with a here-document', `python3 ${S}/input.py <<'END'\none $two\nEND`],
    ['without input, although that of the agent is open', `python3 ${S}/input.py`],
    ['with both outputs in one pipe', `bash ${S}/count.sh form.txt < rows.txt 2>&1 | sort`],
    ['with the output thrown away', `python3 ${S}/check.py form.txt > /dev/null; echo "ended with $?"`],
    ['in a chain', `python3 ${S}/fail.py one || node ${S}/upper.js form.txt && echo never`],
    ['in a loop over its input', `while read -r row; do python3 ${S}/fail.py "$row"; done < rows.txt`],
    ['in a substitution', `echo "rows: $(cat rows.txt | python3 ${S}/input.py)"`],
    ['after cd', `cd ${S}/.. && python3 scripts/fail.py here`],
  ])('%s', { timeout: LONG }, async (_title, command) => {
    const [now, before] = [await withHook(command), await withoutHook(command)];
    expect(now).toEqual(before);
    // The control itself must have worked.
    expect(before.stdout + before.stderr).not.toMatch(/^$|bwrap|command not found|No such file|Permission/);
  });
});

describe('a script that connects', () => {
  test.each([
    ['curl in bash', `bash ${S}/fetch.sh`, 'curl ended with'],
    ['a socket in Python', `python3 ${S}/connect.py`, 'refused'],
  ])('is denied, and the receipt says so: %s', { timeout: LONG }, async (_title, command, says) => {
    const { stdout, stderr } = await withHook(command);
    expect(stdout).toContain(says);
    expect(stdout).not.toContain('reached');
    expect(stderr).toMatch(new RegExp(`warning: denied: .*127\\.0\\.0\\.1:${port}`));
    expect(requests).toEqual([]);
    const listed = await line.run(['audit', 'list', '--denied', '--limit', '1', '--json']);
    expect(listed.code).toBe(0);
    const [entry] = JSON.parse(listed.stdout) as { receipt: { denied: unknown } }[];
    const asked = expect.stringContaining(`127.0.0.1:${port}`) as string;
    expect(entry).toMatchObject({ receipt: { skill: { name: 'skills/forms' } } });
    expect(entry?.receipt.denied).toContainEqual(expect.objectContaining({ capability: 'network', asked }));
  });
});
