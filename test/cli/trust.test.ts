/**
 * Trust on the command line: approve, sign, verify, policy.
 *
 * @module
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { writeSkill } from '../write-skill.ts';
import { openCommandLine, ROOT } from './command.ts';

const { folder, run, close } = openCommandLine();
afterAll(close);

const SOURCE = 'def execute(params):\n    return {"ran": True}\n';
const WITH_PATH = { filesystem: [{ path: '${workspace}/in', access: 'read' }] };

function policyFile(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text, { mode: 0o644 });
  return file;
}

/** Runs the command with a terminal on stdin and stderr, and types the answers. */
function atTerminal(args: string[], typed: string): { code: number | null; output: string } {
  const words = [process.execPath, join(ROOT, 'bin/skillcell.js'), ...args]
    .map((word) => `'${word}'`)
    .join(' ');
  const ended = spawnSync('script', ['-qec', words, '/dev/null'], {
    input: typed,
    cwd: ROOT,
    env: { ...process.env, SKILLCELL_HOME: join(folder, 'home'), NO_COLOR: '1' },
    encoding: 'utf8',
  });
  return { code: ended.status, output: ended.stdout };
}

const ASK = policyFile('ask.yaml', 'skills: [{ match: "test/*", decision: ask }]\n');

describe('skillcell approve', () => {
  test('describes the skill, approves it with --yes, and covers only what was shown', async () => {
    const dir = writeSkill(folder, { source: SOURCE, manifest: { capabilities: WITH_PATH } });
    const refused = await run(['run', dir, '--params', '{}', '--policy', ASK]);
    expect(refused).toMatchObject({ code: 5, stdout: '' });
    expect(refused.stderr).toContain('error[approval_required]');
    const approved = await run(['approve', dir, '--yes']);
    expect(approved.code).toBe(0);
    expect(approved.stderr).toContain('medium It can read everything in "${workspace}/in".');
    mkdirSync(join(folder, 'in'), { recursive: true });
    const call = ['run', dir, '--params', '{}', '--policy', ASK, '--workspace', folder];
    expect(await run(call)).toMatchObject({ code: 0, stdout: '{"ran":true}\n' });
    const manifest = readFileSync(join(dir, 'manifest.yaml'), 'utf8').replace('"read"', '"read-write"');
    writeFileSync(join(dir, 'manifest.yaml'), manifest);
    const changed = await run(call);
    expect(changed.code).toBe(5);
    expect(changed.stderr).toContain('+ filesystem read-write ${workspace}/in');
  });

  test('fails instead of asking if there is no terminal', async () => {
    const dir = writeSkill(folder, { source: SOURCE });
    const ended = await run(['approve', dir], { input: 'y\n' });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('is not a terminal');
    expect((await run(['run', dir, '--params', '{}', '--policy', ASK])).code).toBe(5);
  });

  test('asks on a terminal and accepts only a yes', () => {
    const dir = writeSkill(folder, { source: SOURCE });
    expect(atTerminal(['approve', dir], 'n\n')).toMatchObject({ code: 5 });
    expect(atTerminal(['approve', dir], '\n')).toMatchObject({ code: 5 });
    const said = atTerminal(['approve', dir], 'y\n');
    expect(said).toMatchObject({ code: 0 });
    expect(said.output).toContain('Approve? [y/N]');
  });

  test('is offered by run on a terminal too', () => {
    const dir = writeSkill(folder, { source: SOURCE });
    const call = ['run', dir, '--params', '{}', '--policy', ASK];
    expect(atTerminal(call, 'n\n').code).toBe(5);
    expect(atTerminal(call, 'y\n').code).toBe(0);
    expect(atTerminal(call, '').code).toBe(0);
  });

  test('can be revoked', async () => {
    const dir = writeSkill(folder, { source: SOURCE });
    await run(['approve', dir, '--yes']);
    expect((await run(['approve', dir, '--revoke'])).stdout).toContain('Revoked 1');
    expect((await run(['run', dir, '--params', '{}', '--policy', ASK])).code).toBe(5);
  });

  test('can be revoked under another name for the same files', async () => {
    const legacy = { name: 'office/reader', capabilities: undefined, execution: undefined };
    const source = 'def execute(params): return 1';
    const project = join(folder, 'revoking');
    writeSkill(project, { id: 'office/pdf', manifest: legacy, source });
    const elsewhere = writeSkill(join(folder, 'elsewhere'), { id: 'pdf', manifest: legacy, source });
    const here = { cwd: project };
    expect((await run(['approve', elsewhere, '--yes'], here)).stdout).toContain('Approved office/reader');
    const policy = policyFile('ask-all.yaml', 'skills: [{ match: "*", decision: ask }]');
    const call = ['run', 'office/pdf', '--params', '{}', '--policy', policy, '--execution', 'subprocess'];
    expect((await run(call, here)).code).toBe(0);
    expect((await run(['approve', 'office/pdf', '--revoke'], here)).stdout).toContain('Revoked 1');
    expect((await run(call, here)).code).toBe(5);
  });

  test('can be revoked by name if the skill no longer loads', async () => {
    const dir = writeSkill(folder, { source: SOURCE, manifest: { name: 'test/leaving' } });
    await run(['approve', dir, '--yes']);
    rmSync(dir, { recursive: true });
    expect((await run(['approve', dir, '--revoke'])).code).not.toBe(0);
    expect((await run(['approve', 'test/leaving', '--revoke'])).stdout).toContain('Revoked 1');
    expect((await run(['approve', 'test/leaving', '--revoke'])).code).not.toBe(0);
  });
});

describe('skillcell policy explain', () => {
  test('explains a variable without an approval instead of stopping at it', async () => {
    const manifest = { env_vars: { EXPLAINED: { required: true } } };
    const dir = writeSkill(folder, { source: SOURCE, manifest });
    const { code, stdout } = await run(['policy', 'explain', dir], { env: { EXPLAINED: 'x' } });
    expect(code).toBe(0);
    expect(stdout).toMatch(/env +EXPLAINED +it is not approved for this skill +not needed +no/);
  });

  test('refuses a path that leads out of the workspace', async () => {
    const rules = [{ path: '${workspace}/out', access: 'read' }];
    const dir = writeSkill(folder, { source: SOURCE, manifest: { capabilities: { filesystem: rules } } });
    const workspace = join(folder, 'with-link');
    mkdirSync(workspace);
    symlinkSync('/usr', join(workspace, 'out'));
    const { stdout } = await run(['policy', 'explain', dir, '--workspace', workspace]);
    expect(stdout).toMatch(/filesystem +read \$\{workspace\}\/out +a symbolic link leads out .* no$/m);
  });
});

describe('skillcell sign and verify', () => {
  test('work with a new key, which is private to its owner and never overwritten', async () => {
    const dir = writeSkill(folder, { source: SOURCE });
    expect((await run(['sign', dir, '--new-key', join(folder, 'early.pem')])).stderr).toContain(
      'no skill.lock',
    );
    await run(['lock', dir]);
    const key = join(folder, 'publisher.pem');
    const made = await run(['sign', dir, '--new-key', key]);
    expect(made.code).toBe(0);
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect((await run(['sign', dir, '--new-key', key])).code).toBe(2);
    const publicKey = /ed25519:[\w+/=]+/.exec(made.stdout)?.[0] ?? '';
    const policy = policyFile('signed.yaml', `publishers: [{ name: acme, key: "${publicKey}" }]\n`);
    const verified = await run(['verify', dir, '--policy', policy]);
    expect(verified).toMatchObject({ code: 0, stderr: '' });
    expect(verified.stdout).toContain('signed by acme');
    expect((await run(['verify', dir])).code).toBe(5);
    writeFileSync(join(dir, 'skill.py'), `${SOURCE}\n# changed\n`);
    expect((await run(['verify', dir, '--policy', policy])).code).toBe(2);
    await run(['lock', dir]);
    const broken = await run(['verify', dir, '--policy', policy]);
    expect(broken.code).toBe(5);
    expect(broken.stdout).toContain('BAD');
  });
});

describe('a policy file', () => {
  test('is found in the parents of the working directory', async () => {
    const project = join(folder, 'project', 'deep');
    mkdirSync(project, { recursive: true });
    writeFileSync(
      join(folder, 'project', 'skillcell.policy.yaml'),
      'skills: [{ match: "*", decision: deny }]\n',
    );
    const dir = writeSkill(folder, { source: SOURCE });
    expect((await run(['run', dir, '--params', '{}'], { cwd: project })).code).toBe(5);
    expect((await run(['run', dir, '--params', '{}'], { cwd: folder })).code).toBe(0);
  });

  test.each<[string, (dir: string, file: string) => void, string]>([
    ['inside the folder of a skill', () => undefined, 'a skill cannot bring its own policy'],
    ['that other users can write to', (_, file) => chmodSync(file, 0o666), 'other users can write to it'],
  ])('%s is refused with a message', async (_, spoil, reason) => {
    const isSkill = reason.includes('bring its own');
    const dir = isSkill ? writeSkill(folder, { source: SOURCE }) : join(folder, 'loose');
    mkdirSync(dir, { recursive: true });
    const file = join(dir, 'skillcell.policy.yaml');
    writeFileSync(file, 'minimum: { external: in_process }\n');
    spoil(dir, file);
    const ended = await run(['list'], { cwd: dir });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain(reason);
  });

  test('below the manifest of a skill, or in a folder that other users can write to, is refused with a message', async () => {
    const skill = writeSkill(folder, { source: SOURCE });
    const open = join(folder, 'open');
    for (const dir of [join(skill, 'examples', 'deep'), open]) {
      mkdirSync(dir, { recursive: true });
      writeFileSync(join(dir, 'skillcell.policy.yaml'), 'minimum: { external: in_process }\n');
    }
    chmodSync(open, 0o777);
    const inSkill = await run(['list'], { cwd: join(skill, 'examples', 'deep') });
    expect(inSkill).toMatchObject({ code: 2 });
    expect(inSkill.stderr).toContain('a skill cannot bring its own policy');
    const replaceable = await run(['list'], { cwd: open });
    expect(replaceable).toMatchObject({ code: 2 });
    expect(replaceable.stderr).toContain('other users can replace it');
  });

  test('that widens the defaults is used only after a person trusts its current content', async () => {
    const project = join(folder, 'cloned');
    mkdirSync(project);
    const file = join(project, 'skillcell.policy.yaml');
    const touched = join(project, 'the-command-ran');
    const name = 'TEST_PLANTED_SECRET';
    const dir = writeSkill(folder, {
      source: SOURCE,
      manifest: {
        capabilities: { network: [{ host: '127.0.0.1', port: 1, scheme: 'http' }] },
        env_vars: { [name]: { required: false, secret: true, hosts: ['127.0.0.1'] } },
      },
    });
    writeFileSync(file, `secrets: [{ command: [/usr/bin/touch, ${touched}] }]\n`);
    const call = ['run', dir, '--params', '{}', '--env', name];
    const refused = await run(call, { cwd: project });
    expect(refused).toMatchObject({ code: 5, stdout: '' });
    expect(refused.stderr).toContain('"secrets"');
    expect(refused.stderr).toContain('skillcell policy trust');
    expect(existsSync(touched)).toBe(false);
    expect((await run(['list'], { cwd: project })).code).toBe(5);
    expect((await run(['policy', 'trust'], { cwd: project })).stdout).toContain('secrets');
    await run(call, { cwd: project });
    expect(existsSync(touched)).toBe(true);
    writeFileSync(file, 'network: { allow_private: ["127.0.0.1"] }\n');
    expect((await run(call, { cwd: project })).code).toBe(5);
    expect((await run([...call, '--policy', file], { cwd: project })).code).toBe(0);
  });

  test('is explained with what was declared, allowed, approved and granted for every capability', async () => {
    const dir = writeSkill(folder, {
      source: SOURCE,
      manifest: {
        capabilities: { filesystem: [{ path: '/srv/data', access: 'read' }] },
        limits: { timeout: '90s' },
      },
    });
    const policy = policyFile('explain.yaml', `${readFileSync(ASK, 'utf8')}ceilings: { timeout: 50s }\n`);
    const { code, stdout } = await run(['policy', 'explain', dir, '--policy', policy]);
    expect(code).toBe(0);
    expect(stdout).toContain('needs approval');
    expect(stdout).toMatch(/^filesystem +read \/srv\/data +.*not allow.* +missing +nothing runs$/m);
    expect(stdout).toMatch(/^limit timeout +90s +at most 50s +missing +nothing runs$/m);
    await run(['approve', dir, '--yes']);
    const after = await run(['policy', 'explain', dir, '--policy', policy]);
    expect(after.stdout).toMatch(/^limit timeout +90s +at most 50s +approved +50s$/m);
    expect(existsSync(join(folder, 'home', 'approvals'))).toBe(true);
  });
});
