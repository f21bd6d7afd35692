/**
 * A stranger's SKILL.md folder from the first look to its calls: packages, overlay, approval, other files.
 *
 * @module
 */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { Outcome, PackageNeed, SkillGrants } from '../../src/index.ts';
import { saveRecording } from '../../src/index.ts';
import { parseOverlay } from '../../src/load/overlay.ts';
import { saveOverlay } from '../../src/load/write-overlay.ts';
import { useIndex, writeWheel } from '../cell/engines/python/local-index.ts';
import { openTestRuntime } from '../cell/test-runtime.ts';
import { openFolder, removeFolder } from '../write-skill.ts';

const { runtime, folder, close } = openTestRuntime();
const elsewhere = openFolder();
const index = join(elsewhere, 'index');
const workspace = join(elsewhere, 'workspace');
const GREET = 'import sys\nimport greeting\nprint(greeting.WORD, *sys.argv[1:])\n';
const WRITE = 'import sys\nopen(sys.argv[1], "w").write("made")\nprint("written")\n';

afterAll(async () => {
  await close();
  removeFolder(elsewhere);
});

let made = 0;

function writeFolder(files: Record<string, string>): { dir: string; overlay: string } {
  const name = `stranger-${++made}`;
  const dir = join(folder, 'skills', name);
  const texts = {
    'SKILL.md': `---\nname: ${name}\ndescription: Greets.\n---\nRun scripts/greet.py.\n`,
    ...files,
  };
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return { dir, overlay: join(folder, '.skillcell', 'skills', `${name}.yaml`) };
}

const exec = (dir: string, command: string[], grants?: SkillGrants): Promise<Outcome> =>
  runtime.exec(dir, command, { workspace, reject: false, ...(grants ? { grants } : {}) });

beforeEach(() => {
  rmSync(index, { recursive: true, force: true });
  rmSync(workspace, { recursive: true, force: true });
  mkdirSync(index, { recursive: true });
  mkdirSync(join(workspace, 'out'), { recursive: true });
  for (const path of [workspace, join(workspace, 'out')]) chmodSync(path, 0o777);
  const wheel = { name: 'greeting', version: '1.0', tag: 'py3-none-any' };
  writeWheel(index, { ...wheel, files: { 'greeting.py': Buffer.from('WORD = "hello"\n') } });
  useIndex(index);
});

describe('packages of a folder without a manifest', () => {
  test('that an overlay of the project names do not count until a person installs them', async () => {
    const { dir, overlay } = writeFolder({ 'scripts/greet.py': 'print("without")\n' });
    expect(await exec(dir, ['python', 'scripts/greet.py'])).toMatchObject({ ok: true });
    const { digest } = (await runtime.load(dir)).bundle;
    const text = `skill: stranger-${made}\ndigest: ${digest}\nrequirements: [greeting]\n`;
    saveOverlay({ file: overlay, place: 'project', text });
    const planted = await exec(dir, ['python', 'scripts/greet.py']);
    expect(planted).toMatchObject({ ok: true, result: { stdout: 'without\n' } });
    const { bundle } = await runtime.load(dir);
    expect(bundle.manifest.requirements).toEqual([]);
    expect(bundle.warnings.join()).toContain('names packages that do not count until you install them');
    await expect(runtime.install(dir)).rejects.toMatchObject({
      code: 'approval_required',
      message: expect.stringContaining('greeting (named by') as string,
    });
    await expect(runtime.install(dir, { frozen: true })).rejects.toMatchObject({ code: 'approval_required' });
    await runtime.install(dir, { acceptPackages: () => true });
    const after = (await runtime.load(dir)).bundle;
    expect(after.manifest.requirements).toEqual(['greeting']);
    expect(after.warnings.join()).not.toContain('do not count');
  });

  test('are proposed with the place of the import, and not installed unasked', async () => {
    const { dir, overlay } = writeFolder({ 'scripts/greet.py': GREET });
    const { needs } = await runtime.overlays.packages(await runtime.load(dir));
    expect(needs).toEqual([{ requirement: 'greeting', why: 'imported', at: 'scripts/greet.py:2' }]);
    await expect(runtime.install(dir)).rejects.toMatchObject({
      code: 'approval_required',
      fix: expect.stringContaining(`skillcell install ${dir} --yes`) as string,
    });
    const asked: PackageNeed[] = [];
    const refuse = (all: readonly PackageNeed[]): boolean => asked.push(...all) === 0;
    await expect(runtime.install(dir, { acceptPackages: refuse })).rejects.toMatchObject({
      code: 'approval_required',
    });
    expect(asked).toEqual(needs);
    expect(existsSync(overlay)).toBe(false);
  });

  test('that a person accepts are pinned beside the folder, and its scripts import them', async () => {
    const { dir, overlay } = writeFolder({ 'scripts/greet.py': GREET });
    const { installation } = await runtime.install(dir, { acceptPackages: () => true });
    expect(installation).toMatchObject({ copied: false, pinned: true, overlay });
    expect(existsSync(join(dir, 'skill.lock'))).toBe(false);
    const { packages } = parseOverlay(readFileSync(overlay, 'utf8'), { file: overlay, place: 'project' });
    expect(packages?.requirements).toEqual(['greeting']);
    expect(JSON.stringify(packages?.targets)).toMatch(/greeting 1\.0 sha256:[0-9a-f]{64}/);
    const outcome = await exec(dir, ['python', 'scripts/greet.py', 'you']);
    expect(outcome).toMatchObject({ ok: true, result: { exit_code: 0, stdout: 'hello you\n' } });
    expect((await runtime.load(dir)).bundle.warnings.join()).not.toContain('greeting');
  });

  test('that the files declare are installed without a question', async () => {
    const { dir } = writeFolder({ 'scripts/greet.py': GREET, 'requirements.txt': 'greeting>=1.0\n' });
    await runtime.install(dir);
    expect((await runtime.load(dir)).bundle.manifest.requirements).toEqual(['greeting>=1.0']);
    expect(await exec(dir, ['python', 'scripts/greet.py'])).toMatchObject({ result: { stdout: 'hello\n' } });
  });

  test('are pinned by the lock of a folder of the project that has one', async () => {
    const { dir, overlay } = writeFolder({ 'scripts/greet.py': GREET });
    await runtime.lock(dir);
    const { installation } = await runtime.install(dir, { acceptPackages: () => true });
    expect(installation.overlay).toBeUndefined();
    expect(existsSync(overlay)).toBe(false);
    expect(readFileSync(join(dir, 'skill.lock'), 'utf8')).toContain('greeting 1.0 sha256:');
    expect(await exec(dir, ['python', 'scripts/greet.py'])).toMatchObject({ result: { stdout: 'hello\n' } });
    await runtime.lock(dir);
    expect(readFileSync(join(dir, 'skill.lock'), 'utf8')).toContain('greeting 1.0 sha256:');
  });
});

describe('permission for a folder without a manifest', () => {
  const write = ['python', 'scripts/write.py', 'out/made.txt'];

  test('is nothing but reading the workspace', async () => {
    const { dir } = writeFolder({ 'scripts/write.py': WRITE });
    const outcome = await exec(dir, write);
    expect(outcome).toMatchObject({ ok: true, result: { exit_code: 1 } });
    expect(outcome.capabilities.denied[0]?.asked).toBe('write /workspace/out/made.txt');
  });

  test('can be given to one call', async () => {
    const { dir } = writeFolder({ 'scripts/write.py': WRITE });
    const outcome = await exec(dir, write, { write: ['out'] });
    expect(outcome).toMatchObject({ ok: true, result: { exit_code: 0 } });
    expect(readFileSync(join(workspace, 'out/made.txt'), 'utf8')).toBe('made');
    expect(await exec(dir, write)).toMatchObject({ result: { exit_code: 1 } });
  });

  test('is recorded for a writable folder whose changed files cannot be listed', async () => {
    const { dir } = writeFolder({ 'scripts/odd.sh': "echo x > out/$'\\xff'\n" });
    const allow = { write: [join(workspace, 'out')] };
    const command = ['bash', 'scripts/odd.sh'];
    const recording = await runtime.record(dir, { command }, { workspace, allow });
    expect(recording.outcome).toMatchObject({ ok: true, result: { exit_code: 0, files: [] } });
    expect(recording.diff).toContain('+    - { path: "${workspace}/out", access: read-write }');
    expect(recording.remarks.join()).toContain('--allow-write ${workspace}/out');
    for (const name of readdirSync(join(workspace, 'out'), { encoding: 'buffer' }))
      if (name.includes(0xff)) rmSync(Buffer.concat([Buffer.from(`${join(workspace, 'out')}/`), name]));
  });

  test('is recorded from a command as an overlay, counts once it is approved, and not for other files', async () => {
    const { dir, overlay } = writeFolder({ 'scripts/write.py': WRITE });
    const allow = { write: [join(workspace, 'out')], env: [] };
    const recording = await runtime.record(dir, { command: write }, { workspace, allow });
    expect(recording.file).toBe(overlay);
    expect(recording.diff).toContain('+    - { path: "${workspace}/out", access: read-write }');
    expect(existsSync(overlay)).toBe(false);
    saveRecording(recording);

    expect(await exec(dir, write)).toMatchObject({ result: { exit_code: 1 } });
    const before = await runtime.load(dir);
    expect(before.bundle.warnings.join()).toContain(
      `permits nothing until you approve it: skillcell approve ${dir}`,
    );
    runtime.approvals.add(runtime.overlays.proposed(before).bundle, 'test');
    expect(await exec(dir, write)).toMatchObject({ result: { exit_code: 0 } });
    // Also for a skill that was loaded before the approval, and no longer after it is revoked.
    expect((await runtime.plan(before, { workspace })).grant.filesystem).toHaveLength(2);
    const sources = runtime.overlays.sourcesOf(await runtime.load(dir), { workspace });
    expect(sources.map(({ source }) => source)).toEqual(['call', 'overlay']);

    appendFileSync(join(dir, 'SKILL.md'), 'More.\n');
    expect(await exec(dir, write)).toMatchObject({ result: { exit_code: 1 } });
    const changed = await runtime.load(dir);
    expect(changed.bundle.overlay).toBeUndefined();
    expect(changed.bundle.warnings.join()).toContain(`skillcell approve --renew ${dir}`);
    await expect(runtime.record(dir, { command: write }, { workspace, allow })).rejects.toMatchObject({
      code: 'manifest_drift',
    });

    const renewal = await runtime.overlays.renewal(changed);
    if (!renewal) throw new Error('There is nothing to renew');
    saveOverlay(renewal);
    expect(await exec(dir, write)).toMatchObject({ result: { exit_code: 1 } });
    runtime.approvals.add(renewal.skill.bundle, 'test');
    expect(await exec(dir, write)).toMatchObject({ result: { exit_code: 0 } });
    runtime.approvals.remove(renewal.skill.bundle.manifest.name);
    expect((await runtime.plan(renewal.skill, { workspace })).grant.filesystem).toHaveLength(1);
  });

  test('ends for a skill that stays loaded when a person removes or narrows the overlay', async () => {
    const { dir } = writeFolder({ 'scripts/w.py': WRITE });
    const home = join(runtime.home, 'skills', `stranger-${made}.yaml`);
    const { digest } = (await runtime.load(dir)).bundle;
    const text = `skill: stranger-${made}\ndigest: ${digest}\ncapabilities: { network: [{ host: a.example }] }\n`;
    const hostsOf = async (skill: Awaited<ReturnType<typeof runtime.load>>): Promise<number> =>
      (await runtime.pin(skill)).bundle.manifest.capabilities.network.length;
    saveOverlay({ file: home, place: 'home', text });
    const loaded = await runtime.load(dir);
    expect(await hostsOf(loaded)).toBe(1);
    saveOverlay({ file: home, place: 'home', text: text.replace('a.example', 'b.example') });
    expect(await hostsOf(loaded)).toBe(0);
    saveOverlay({ file: home, place: 'home', text });
    expect(await hostsOf(loaded)).toBe(1);
    rmSync(home);
    expect(await hostsOf(loaded)).toBe(0);
  });

  test('of a second command is added to that of the first', async () => {
    const { dir } = writeFolder({ 'scripts/write.py': WRITE });
    const allow = { write: [join(workspace, 'out')] };
    saveRecording(await runtime.record(dir, { command: write }, { workspace, allow }));
    const second = { command: ['python', '-c', 'import os; print(os.environ["TEST_DECLARED"])'] };
    const more = await runtime.record(dir, second, { workspace, allow: { env: ['TEST_DECLARED'] } });
    saveRecording(more);
    expect(more.outcome).toMatchObject({ ok: true, result: { exit_code: 0 } });
    expect(more.manifest).toContain('path: "${workspace}/out"');
    expect(more.manifest).toContain('TEST_DECLARED');
    const again = await runtime.record(dir, { command: write }, { workspace, allow });
    expect(again.diff).toBe('');
  });

  test('that the author asks for counts as the declaration', async () => {
    const { dir } = writeFolder({
      'scripts/write.py': WRITE,
      'skillcell.yaml': 'capabilities:\n  filesystem: [{ path: "${workspace}/out", access: read-write }]\n',
    });
    expect(await exec(dir, write)).toMatchObject({ result: { exit_code: 0 } });
  });

  test('names the programs that a command may start', async () => {
    const { dir } = writeFolder({ 'scripts/write.py': WRITE });
    const refused = await exec(dir, ['id', '-u']);
    expect(refused).toMatchObject({ ok: false, error: { code: 'capability_denied' } });
    const outcome = await exec(dir, ['id', '-u'], { programs: ['id'] });
    expect(outcome).toMatchObject({ ok: true, result: { exit_code: 0 } });
  });
});
