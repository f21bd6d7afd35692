import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRuntime } from '../../src/index.ts';
import { parsePolicy } from '../../src/policy/operator.ts';
import { openFolder, removeFolder, writeSkill } from '../write-skill.ts';

let folder: string;
let mine: string;
let copy: string;

beforeEach(() => {
  folder = openFolder();
  mine = join(folder, 'skills', 'text', 'mine');
  copy = join(folder, 'elsewhere', 'mine');
  const written = writeSkill(folder, {
    manifest: { name: 'text/mine', execution: 'subprocess' },
    source: 'def execute(params):\n    return {}\n',
  });
  for (const to of [mine, copy]) {
    mkdirSync(join(to, '..'), { recursive: true });
    cpSync(written, to, { recursive: true });
  }
});
afterEach(() => removeFolder(folder));

async function call(dir: string, rules: string): Promise<string> {
  const policy = parsePolicy(`skills: ${rules}`, { file: 'policy' });
  await using runtime = createRuntime({ home: join(folder, 'home'), cwd: folder, policy, audit: false });
  const outcome = await runtime.execute(dir, {}, { reject: false });
  return outcome.ok ? 'ok' : `${outcome.error.code}: ${outcome.error.message}`;
}

describe('a skill that is allowed by its name', () => {
  const BY_NAME = '[{ match: text/*, decision: allow }, { match: "*", decision: ask }]';

  it('runs if the name belongs to it', async () => {
    expect(await call(mine, BY_NAME)).toBe('ok');
  });

  it('is refused if the name belongs to another skill', async () => {
    expect(await call(copy, BY_NAME)).toMatch(/^untrusted: .*claims the name "text\/mine"/);
  });

  it('needs no registered name if the rule covers all skills', async () => {
    expect(await call(copy, '[{ match: "*", decision: allow }]')).toBe('ok');
  });
});
