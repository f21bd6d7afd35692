import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GrantedPath } from '../../src/policy/grant.ts';
import { protectControlFiles, type Protection } from '../../src/policy/kept-places.ts';
import { DEFAULT_POLICY } from '../../src/policy/operator.ts';
import { folderPerTest } from '../test-folder.ts';

const folder = folderPerTest();

function protect(inside: string): Protection {
  const project = realpathSync(folder.path);
  mkdirSync(join(project, '.skillcell', 'skills'), { recursive: true });
  mkdirSync(join(project, 'skills'), { recursive: true });
  writeFileSync(join(project, 'skillcell.policy.yaml'), '');
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

  it.each(['.skillcell', '.skillcell/skills'])('does not get %s itself', (inside) => {
    expect(protect(inside)).toMatchObject({
      refusal: expect.stringContaining('controls what skills may do') as string,
    });
  });
});
