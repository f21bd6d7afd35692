import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GrantedPath } from '../../src/policy/grant.ts';
import { protectControlFiles, type Protection } from '../../src/policy/kept-places.ts';
import { DEFAULT_POLICY } from '../../src/policy/operator.ts';
import { ALL_CONTROL_PLACES, makeControlPlaces } from '../control-places.ts';
import { folderPerTest } from '../test-folder.ts';

const folder = folderPerTest();

function protect(inside: string, missing?: string): Protection {
  const project = realpathSync(folder.path);
  makeControlPlaces(project);
  if (missing !== undefined) rmSync(join(project, missing), { recursive: true });
  const path: GrantedPath = { host: join(project, inside), guest: '/workspace', access: 'read-write' };
  return protectControlFiles(path, { policy: DEFAULT_POLICY, cwd: project });
}

describe('a skill that may write to a project', () => {
  it('sees the folder of overlays read-only, because a person might approve what it wrote there', () => {
    const protection = protect('');
    expect('inner' in protection ? protection.inner : []).toContainEqual(
      expect.objectContaining({ guest: '/workspace/.skillcell', access: 'read' }),
    );
  });

  it.each(ALL_CONTROL_PLACES)('gets no grant while it could be the first to create %s', (missing) => {
    const protection = protect('', missing);
    expect(protection).toMatchObject({
      refusal: expect.stringContaining('could put its own there') as string,
      fix: expect.stringContaining(missing) as string,
    });
  });

  it('gets no grant for the folder of an agent while it could create its skills', () => {
    expect(protect('.claude', '.claude/skills')).toHaveProperty('refusal');
    expect(protect('.claude')).toHaveProperty('inner');
  });

  it('gets no grant inside the skills of an agent', () => {
    expect(protect('.claude/skills/pdf')).toHaveProperty('refusal');
  });

  it('sees the skills of the plugins that a project lists read-only', () => {
    const project = realpathSync(folder.path);
    makeControlPlaces(project);
    mkdirSync(join(project, 'plugins', 'a', 'skills'), { recursive: true });
    writeFileSync(
      join(project, '.claude-plugin', 'marketplace.json'),
      JSON.stringify({ plugins: [{ source: './plugins/a' }] }),
    );
    const protection = protect('');
    const kept = 'inner' in protection ? protection.inner : [];
    for (const guest of ['/workspace/.claude-plugin', '/workspace/plugins/a/skills'])
      expect(kept).toContainEqual(expect.objectContaining({ guest, access: 'read' }));
  });

  it.each(['.skillcell', '.skillcell/skills'])('does not get %s itself', (inside) => {
    expect(protect(inside)).toMatchObject({
      refusal: expect.stringContaining('controls what skills may do') as string,
    });
  });
});
