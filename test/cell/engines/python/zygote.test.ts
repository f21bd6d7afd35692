import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createRuntime } from '../../../../src/index.ts';
import { packageRoot } from '../../../../src/inside.ts';
import { tempDir } from '../../../load/helpers.ts';

/** Longer than a zygote may take to kill a child. */
const BUSY_MS = 400;

function keepHostBusy(): void {
  const end = Date.now() + BUSY_MS;
  while (Date.now() < end);
}

it('a zygote is not killed because the host was too busy to read that a cell had exited', async () => {
  const folder = tempDir();
  // With a root host, cells run as another user, who has to enter the folder.
  chmodSync(folder, 0o711);
  await using runtime = createRuntime({
    home: join(folder, 'home'),
    pool: { ready: 'zygote' },
    audit: false,
  });
  const skill = await runtime.load(join(packageRoot(), 'skills/optimization/prompt_rewriter'));
  await runtime.warm(skill);
  for (let call = 0; call < 4; call++) {
    const outcome = await runtime.execute(skill, { raw_text: 'please be brief' });
    expect(outcome.execution?.start).toBe('zygote');
    keepHostBusy();
  }
});
