import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Wall } from '../../../../src/cell/contract.ts';
import { JailWall } from '../../../../src/cell/walls/jail/wall.ts';
import { stageGuestCode } from '../../../../src/cell/engines/node-process/guest-code.ts';
import { findNode } from '../../../../src/cell/engines/node-process/node-binary.ts';
import { ProcessWall } from '../../../../src/cell/walls/process/wall.ts';
import { ComponentEngine } from '../../../../src/cell/engines/component/engine.ts';
import { installBinary, type InstallOptions } from '../../../../src/cell/engines/component/install.ts';
import { SkillError } from '../../../../src/errors.ts';
import type { Bundle } from '../../../../src/load/bundle.ts';
import { grantOf } from '../../../broker/support.ts';
import { openFolder, removeFolder } from '../../../write-skill.ts';
import { ECHO } from './programs.ts';

const folder = openFolder();
const home = join(folder, 'home');
mkdirSync(home, { mode: 0o711 });
const guest = { node: findNode(home), code: stageGuestCode(home, 'wasm') };
const walls: Record<string, Wall> = { jail: new JailWall(), process: new ProcessWall() };
let bundles = 0;

afterAll(async () => {
  await Promise.all(Object.values(walls).map((wall) => wall.close()));
  removeFolder(folder);
});

function options(binary: Uint8Array, more: Partial<InstallOptions> = {}): InstallOptions {
  const stagedDir = join(folder, `bundle-${++bundles}`);
  mkdirSync(stagedDir, { mode: 0o755 });
  writeFileSync(join(stagedDir, 'skill.wasm'), binary);
  const digest = createHash('sha256').update(binary).update(String(bundles)).digest('hex');
  const wall = walls['jail'] as Wall;
  return { home, guest, wall, stagedDir, file: 'skill.wasm', digest, maxPages: 1024, ...more };
}

async function refusal(of: InstallOptions): Promise<SkillError> {
  try {
    await installBinary(of);
  } catch (error) {
    if (error instanceof SkillError) return error;
    throw error;
  }
  return expect.fail('It was installed');
}

/** Files that are left after the installer has succeeded or failed. */
function left(): string[] {
  return readdirSync(join(home, 'wasm')).filter((name) => name.includes('.'));
}

describe.each(Object.entries(walls))('installing behind the wall %s', (_, wall) => {
  it('writes a plan and modules that belong to the host', async () => {
    const { folder: made, plan } = await installBinary(options(ECHO, { wall }));
    expect(plan).toMatchObject({ format: 'command', entry: '_start' });
    expect(plan.imports).toContain('wasi_snapshot_preview1.fd_read');
    expect(readdirSync(made).toSorted()).toEqual(['0.wasm', 'plan.json']);
    for (const name of ['.', '0.wasm', 'plan.json']) {
      const { uid, mode } = statSync(join(made, name));
      expect([uid, mode & 0o022]).toEqual([process.getuid?.(), 0]);
    }
    expect(left()).toEqual([]);
  });

  it('rejects a malformed binary and names the offset', async () => {
    const broken = Uint8Array.from(ECHO);
    broken.set([0xff, 0xff, 0xff, 0xff, 0xff], 20);
    const { code, message, detail } = await refusal(options(broken, { wall }));
    expect(code).toBe('manifest_invalid');
    expect(message).toMatch(/^The binary "skill.wasm" is refused at byte \d+: /);
    expect(detail).toMatchObject({ file: 'skill.wasm', offset: expect.any(Number) as number });
    expect((await refusal(options(Uint8Array.of(), { wall }))).code).toBe('manifest_invalid');
    expect(left()).toEqual([]);
  });

  it('kills an installer that hangs or exceeds a limit, and leaves no files', async () => {
    const hang = scripted('hang', 'for (;;);');
    const slow = await refusal(options(ECHO, { wall, guest: hang, limits: { timeout: 700 } }));
    expect(slow).toMatchObject({ code: 'manifest_invalid', detail: { reason: 'timeout' } });
    const hungry = scripted('hungry', 'const held = []; for (;;) held.push(Buffer.alloc(1 << 24, 1));');
    const big = await refusal(options(ECHO, { wall, guest: hungry, limits: { memory: 300 << 20 } }));
    expect(big).toMatchObject({ code: 'manifest_invalid', detail: { reason: 'memory' } });
    const loud = scripted(
      'loud',
      "const x = 'x'.repeat(1 << 16); setInterval(() => process.stdout.write(x), 0);",
    );
    const flood = await refusal(options(ECHO, { wall, guest: loud }));
    expect(flood).toMatchObject({ code: 'manifest_invalid', detail: { reason: 'output' } });
    expect(left()).toEqual([]);
  });
});

/** An installer that runs the test's own script. */
function scripted(name: string, body: string): InstallOptions['guest'] {
  const code = join(folder, `installer-${name}`);
  mkdirSync(join(code, 'install'), { recursive: true, mode: 0o755 });
  writeFileSync(join(code, 'package.json'), '{"type":"module"}');
  writeFileSync(join(code, 'install', 'main.js'), body);
  return { node: guest.node, code };
}

describe('an installed binary', () => {
  it('is cached by digest, so that installing it again runs nothing', async () => {
    const once = options(ECHO);
    const { folder: made } = await installBinary(once);
    const dead = { ...guest, node: { path: '/nonexistent' } };
    expect((await installBinary({ ...once, guest: dead })).folder).toBe(made);
    expect((await refusal(options(ECHO, { guest: dead }))).code).toBe('manifest_invalid');
  });

  it('is marked as used by each lookup and each start of a cell', async () => {
    const once = options(ECHO);
    const { folder: made } = await installBinary(once);
    const isMarked = (): boolean => statSync(made).mtimeMs > 1000;
    utimesSync(made, 1, 1);
    await installBinary(once);
    expect(isMarked()).toBe(true);
    const { stagedDir, file, digest } = once;
    const bundle = { stagedDir, entry: file, files: { [file]: digest } } as unknown as Bundle;
    const engine = new ComponentEngine({ home, wall: async () => once.wall });
    const artifact = await engine.prepare(bundle);
    utimesSync(made, 1, 1);
    expect(artifact.spec(grantOf()).mounts).toContainEqual({ host: made, guest: '/artifact' });
    expect(isMarked()).toBe(true);
  });

  it('is the same for concurrent installations', async () => {
    const same = options(ECHO);
    const all = await Promise.all(Array.from({ length: 3 }, () => installBinary(same)));
    expect(new Set(all.map(({ folder: made }) => made)).size).toBe(1);
    expect(left()).toEqual([]);
  });

  it('contains only the expected files: links and other names are rejected', async () => {
    writeFileSync(join(folder, 'secret'), 'must not be copied');
    const link = `import { symlinkSync, writeFileSync } from 'node:fs';
      symlinkSync(${JSON.stringify(join(folder, 'secret'))}, process.argv[3] + '/plan.json');`;
    const extra = `import { writeFileSync } from 'node:fs'; writeFileSync(process.argv[3] + '/extra.js', '1');`;
    const linking = await refusal(options(ECHO, { guest: scripted('link', link) }));
    // Node itself refuses to create the link; otherwise, we would reject it.
    expect(linking.message).not.toContain('must not be copied');
    const adding = await refusal(options(ECHO, { guest: scripted('extra', extra) }));
    expect(adding).toMatchObject({ code: 'internal' });
    expect(adding.message).toContain('extra.js');
    expect(left()).toEqual([]);
  });

  it('is built without access to anything else', async () => {
    const away = `import { writeFileSync } from 'node:fs';
      let said = '';
      for (const path of ['/etc/passwd', ${JSON.stringify(home)}, process.argv[2]]) {
        try { writeFileSync(path + '/x', '1'); said += 'written ' + path; } catch {}
      }
      writeFileSync(process.argv[3] + '/plan.json', JSON.stringify({ version: 1, format: 'command', entry: '_start', imports: [said] }));`;
    const { plan } = await installBinary(options(ECHO, { guest: scripted('away', away) }));
    expect(plan.imports).toEqual(['']);
    expect(existsSync(join(home, 'x'))).toBe(false);
    expect(readFileSync('/etc/passwd', 'utf8')).toContain('root');
  });
});
