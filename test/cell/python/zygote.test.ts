import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createRuntime, packageRoot } from '../../../src/index.ts';
import { tempDir } from '../../load/helpers.ts';

/** Longer than a zygote may take to end a child. */
const BUSY_MS = 400;

function keepHostBusy(): void {
  const end = Date.now() + BUSY_MS;
  while (Date.now() < end);
}

it('a zygote outlives a host that is too busy to read that a cell has ended', async () => {
  const folder = tempDir();
  // Cells of a root host run as another user, who has to pass through.
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
