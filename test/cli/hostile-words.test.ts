/**
 * Every command is run on a skill whose texts try to control the terminal or to imitate our output.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeSkill } from '../write-skill.ts';
import { openCommandLine, ROOT, type Ended } from './command.ts';
import { FORGED, HOSTILE, STEERS } from './hostile-words.ts';

const { folder, run, close } = openCommandLine();
afterAll(close);

const PYTHON = `
import os, sys
WORDS = ${JSON.stringify(HOSTILE)}

def execute(params):
    print(WORDS)
    print(WORDS, file=sys.stderr)
    for act in (lambda: open("/data/" + WORDS), lambda: os.environ["A" + WORDS], lambda: os.system(WORDS)):
        try:
            act()
        except Exception:
            pass
    if params.get("fail"):
        raise type("E" + WORDS, (Exception,), {})(WORDS)
    return {WORDS: WORDS}
`;

let skill: string;
beforeAll(() => {
  skill = writeSkill(folder, {
    id: 'evil/words',
    source: PYTHON,
    manifest: {
      description: HOSTILE,
      short_description: HOSTILE,
      parameters: {
        type: 'object',
        properties: { fail: { type: 'boolean', description: HOSTILE }, [HOSTILE]: { type: 'string' } },
      },
      constitution: HOSTILE,
      env_vars: { EVIL_NAME: { description: HOSTILE } },
    },
    files: {
      'SKILL.md': `---\nname: evil-words\ndescription: ${JSON.stringify(HOSTILE)}\n---\n${HOSTILE}`,
    },
  });
  const broken = join(folder, 'skills/evil/broken');
  mkdirSync(broken, { recursive: true });
  writeFileSync(join(broken, 'manifest.yaml'), JSON.stringify({ name: HOSTILE, [HOSTILE]: 1 }));
});

const COMMANDS: [title: string, args: () => string[]][] = [
  ['list', () => ['list']],
  ['list --json', () => ['list', '--json']],
  ['inspect', () => ['inspect', skill]],
  ['inspect --json', () => ['inspect', skill, '--json']],
  ['inspect of a broken one', () => ['inspect', 'evil/broken']],
  ['validate', () => ['validate', skill]],
  ['run', () => ['run', skill, '--params', '{}']],
  ['run --json', () => ['run', skill, '--params', '{}', '--json']],
  ['run --explain', () => ['run', skill, '--params', '{}', '--explain']],
  ['run that fails', () => ['run', skill, '--params', '{"fail":true}']],
  ['run of wrong parameters', () => ['run', skill, '--params', JSON.stringify({ fail: HOSTILE })]],
  ['record --json', () => ['record', skill, '--params', '{"fail":true}', '--json']],
  ['policy explain', () => ['policy', 'explain', skill]],
  ['tools', () => ['tools', skill, '--format', 'openai']],
  ['approve --yes', () => ['approve', skill, '--yes']],
  ['lock', () => ['lock', skill]],
  ['install', () => ['install', skill]],
  ['audit list', () => ['audit', 'list']],
  ['audit list --json', () => ['audit', 'list', '--json']],
];

test.each(COMMANDS)('%s prints no control characters and no line that imitates ours', async (_, args) => {
  const { stdout, stderr }: Ended = await run(args(), { cwd: folder });
  expect(stdout + stderr).not.toBe('');
  for (const bytes of [stdout, stderr]) {
    expect(STEERS.exec(bytes)?.[0]?.codePointAt(0)?.toString(16)).toBeUndefined();
    expect(FORGED.exec(bytes)?.[0]).toBeUndefined();
  }
});

test('escaping keeps the value of a result', async () => {
  const { stdout } = await run(['run', skill, '--params', '{}'], { cwd: folder });
  expect(JSON.parse(stdout)).toEqual({ [HOSTILE]: HOSTILE });
});

test('instructions for a model are attributed to their author and contain no control characters', async () => {
  const { stdout } = await run(['tools', skill, '--format', 'openai', '--instructions'], { cwd: folder });
  expect(stdout).toContain('The author of the skill evil/words writes:');
  expect(stdout).not.toMatch(STEERS);
});

/** Runs the command on a terminal, and returns what it writes there. */
const ON_TERMINAL = `
import os, subprocess, sys
master, slave = os.openpty()
child = subprocess.Popen(sys.argv[1:], stdout=slave, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
os.close(slave)
try:
    while chunk := os.read(master, 65536):
        sys.stdout.buffer.write(chunk)
except OSError:
    pass
sys.exit(child.wait())
`;

test.each(['record', 'run'])('%s prints no control characters on a terminal', (command) => {
  const bin = [process.execPath, join(ROOT, 'bin/skillcell.js')];
  const args = ['-c', ON_TERMINAL, ...bin, command, skill, '--params', '{}', '--execution', 'subprocess'];
  const env = { ...process.env, SKILLCELL_HOME: join(folder, 'home'), NO_COLOR: '1' };
  const { stdout } = spawnSync('python3', args, { cwd: folder, env, encoding: 'utf8' });
  const shown = stdout.replaceAll('\r\n', '\n');
  expect(shown).toContain(String.raw`\u009b31m`);
  expect(shown).not.toMatch(STEERS);
});

test('a recorded diff is written to a pipe unescaped, so that it can be applied', async () => {
  const { stdout } = await run(['record', skill, '--params', '{}', '--execution', 'subprocess'], {
    cwd: folder,
  });
  expect(stdout).toContain('\u009b31m');
});
