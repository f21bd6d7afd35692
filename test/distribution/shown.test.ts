/**
 * What a person is shown before they decide, by the command line, and what `verify` says about a source.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeTreeSync } from '../../src/load/remove-tree.ts';
import { makeKeyPair } from '../../src/trust/signature.ts';
import { PersonLine, ROOT } from './person-line.ts';

function person(): PersonLine {
  // Cells of a root host are not root, and have to reach the homes.
  const folder = mkdtempSync(join(tmpdir(), 'skillcell-shown-'));
  onTestFinished(() => removeTreeSync(folder));
  chmodSync(folder, 0o711);
  return new PersonLine(folder);
}

/** An Agent Skills folder in the project. */
function writeAgentSkill(who: PersonLine, description: string): string {
  const folder = join(who.project, 'vendor', 'hello');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'SKILL.md'), `---\nname: hello\ndescription: ${description}\n---\nSay hello.\n`);
  return 'file:vendor/hello';
}

function lineOf(text: string, label: string): string {
  return text.split('\n').find((line) => line.startsWith(`  ${label}`)) ?? '';
}

test('nobody is asked about something that was not shown, also with --json', async () => {
  const who = person();
  const source = writeAgentSkill(who, 'Says hello');
  const { stdout } = await who.atTerminal('n\n', 'add', source, '--json');
  expect(stdout).toContain('It asks for:');
  expect(stdout.indexOf('It asks for:')).toBeLessThan(stdout.indexOf('[y/N]'));
  expect(stdout).toContain('"result": "declined"');
});

test('words of a stranger cannot look like a line of ours', async () => {
  const who = person();
  const gaps = [' '.repeat(70), '\u00a0\u2003'.repeat(35), '\u115f'.repeat(35)];
  const source = writeAgentSkill(who, `"Hello${gaps.map((gap) => `${gap}signed by us`).join('')}"`);
  const { stdout } = await who.atTerminal('n\n', 'add', source);
  const about = lineOf(stdout, 'about');
  expect(about.slice('  about     '.length)).not.toMatch(/[\s\u115f]{3}/u);
  const long = writeAgentSkill(who, 'a'.repeat(900));
  const line = lineOf((await who.atTerminal('n\n', 'add', long)).stdout, 'about');
  expect(line.length).toBeLessThan(330);
});

test('verify of a source demands what add would demand', async () => {
  const who = person();
  const keys = [makeKeyPair(), makeKeyPair()];
  const source = writeAgentSkill(who, 'Says hello');
  const folder = join(who.project, 'vendor', 'hello');
  await who.ok('lock', folder);
  await who.ok('sign', folder, '--key', who.write('key.pem', keys[0]?.privateKey ?? ''));
  const publishers = keys.map(({ publicKey }, at) => ({ name: `p${at}`, key: publicKey }));
  const policy = (...sources: object[]): string[] => [
    '--policy',
    who.write('policy.json', JSON.stringify({ publishers, sources })),
  ];
  expect(await who.ok('verify', source, ...policy({ match: 'file:vendor/*', publishers: ['p0'] }))).toContain(
    'is signed by p0',
  );
  const other = policy({ match: 'file:vendor/*', publishers: ['p1'] });
  expect(await who.refused('signature_invalid', 'verify', source, ...other)).toContain('p1');
  const elsewhere = policy({ match: 'file:other/*' });
  expect(await who.refused('untrusted', 'verify', source, ...elsewhere)).toContain('allows no skills from');
  // It is refused before it is read.
  appendFileSync(join(folder, 'SKILL.md'), 'More.\n');
  expect(readFileSync(join(folder, 'SKILL.md'), 'utf8')).toContain('More.');
  await who.refused('untrusted', 'verify', source, ...elsewhere);
});

test('a clone cannot give another name to an accepted skill that names none', async () => {
  const who = person();
  const folder = join(who.project, 'vendor', 'hello');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'SKILL.md'), '---\ndescription: Says hello\n---\nSay hello.\n');
  expect((await who.atTerminal('y\n', 'add', 'file:vendor/hello')).code).toBe(0);
  const originOf = async (id: string): Promise<string | undefined> => {
    const rows = JSON.parse(await who.ok('list', '--json')) as { skill: string; origin: string }[];
    return rows.find(({ skill }) => skill === id)?.origin;
  };
  expect(await originOf('skills/hello')).toBe('installed');
  const renamed = { version: 1, skills: { 'skills/trusted': who.pin('skills/hello') } };
  writeFileSync(join(who.project, 'skills.lock.json'), JSON.stringify(renamed));
  await who.run(['install', '--frozen']);
  expect(await originOf('skills/trusted')).toBe('external');
});

test('a full file system is said to be full, and a file that cannot be read to be unreadable', async () => {
  const who = person();
  writeAgentSkill(who, 'Says hello');
  writeFileSync(join(who.project, 'vendor', 'hello', 'large.bin'), Buffer.alloc(3_000_000, 1));
  mkdirSync(who.home, { mode: 0o700 });
  const words = [process.execPath, join(ROOT, 'bin/skillcell.js'), 'add', 'file:vendor/hello'];
  const namespace = process.getuid?.() === 0 ? ['--mount'] : ['--mount', '--map-root-user'];
  const script = 'mount -t tmpfs -o size=2m,mode=700 none "$0" && exec "$@"';
  const { stderr } = spawnSync('unshare', [...namespace, 'sh', '-c', script, who.home, ...words], {
    cwd: who.project,
    env: { ...process.env, SKILLCELL_HOME: who.home },
    encoding: 'utf8',
  });
  expect(stderr).toContain('its file system is full');
  await who.refused('manifest_invalid', 'add', 'file:///proc/self/mem');
});
