/** `compliance/example_skill` runs in a container if its image exists, otherwise in the next mode it lists. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildImage, type BuiltImage } from '../../../src/inside.ts';
import { createRuntime } from '../../../src/index.ts';
import { seedImages } from '../../cell/images/base-image.ts';
import { bundled } from '../../skills/copy-skill.ts';
import { openFolder, removeFolder } from '../../write-skill.ts';

const SKILL = 'compliance/example_skill';
const LOCK = bundled(`${SKILL}/skill.lock`);

interface Case {
  name: string;
  params: unknown;
  result?: unknown;
  error?: string;
}

const cases = JSON.parse(readFileSync(bundled(`${SKILL}/cases.json`), 'utf8')) as Case[];
const folder = openFolder();
const home = join(folder, 'home');
let built: BuiltImage | undefined;
let lockBefore: string;

beforeAll(async () => {
  lockBefore = readFileSync(LOCK, 'utf8');
  await seedImages(home);
  built = await buildImage(SKILL, { home, cwd: folder });
});
afterAll(() => removeFolder(folder));

it('the example skill is built without touching its lock, which pins no image', () => {
  expect(built).toMatchObject({ reference: 'Dockerfile', lock: 'kept' });
  expect(readFileSync(LOCK, 'utf8')).toBe(lockBefore);
  expect(JSON.parse(lockBefore)).not.toHaveProperty('image');
});

it('the example skill passes its cases in a container', async () => {
  await using runtime = createRuntime({ home, cwd: folder, audit: false, pool: { size: 0 } });
  const skill = await runtime.load(SKILL);
  for (const { name, params, result, error } of cases) {
    const outcome = await runtime.execute(skill, params, { isolated: true, reject: false });
    expect(outcome.ok ? outcome.result : outcome.error.code, name).toEqual(result ?? error);
    if (outcome.ok)
      expect(outcome.execution).toMatchObject({ mode: 'container', wall: 'container', fresh: true });
  }
});

it('the example skill runs in its next mode if the image is missing, and says how to get it', async () => {
  await using runtime = createRuntime({
    home: join(folder, 'other'),
    cwd: folder,
    audit: false,
    pool: { size: 0 },
  });
  const outcome = await runtime.execute(SKILL, { key: 'value' }, { isolated: true });
  expect(outcome).toMatchObject({ ok: true, execution: { mode: 'subprocess' } });
  expect(outcome.warnings.join()).toContain('skillcell build compliance/example_skill');
  const refused = await runtime.execute(SKILL, {}, { execution: 'container', reject: false });
  expect(refused).toMatchObject({ ok: false, error: { code: 'skill_unavailable' } });
});
