import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { filesOf, GEAR_NAMES } from './scripts/gears.ts';
import { LongestFirst } from './scripts/longest-first.ts';

/** All of them unless a script of package.json names some. */
const GEARS = GEAR_NAMES.filter((gear) => (process.env['SKILLCELL_GEARS'] ?? gear).split(',').includes(gear));

const config: ViteUserConfig = defineConfig({
  test: {
    include: filesOf(GEARS, globSync('test/**/*.test.ts', { cwd: import.meta.dirname })),
    setupFiles: GEARS.join() === 'quick' ? ['test/quick-guard.ts'] : [],
    globalSetup: ['test/global-setup.ts'],
    // Real jails on a small machine: a slow start is not a failure, a hang is. Generous, because a busy machine is slow.
    testTimeout: 600_000,
    // The hooks of the attacks run a whole corpus.
    hookTimeout: 2_400_000,
    // Vitest would exit before the shared folder is removed.
    teardownTimeout: 120_000,
    // A poll ends as soon as it succeeds, so patience costs nothing.
    expect: { poll: { timeout: 180_000 } },
    // In CI, a test that failed on a crowded machine gets a second try, and is named in the end. Nothing that a random value
    // brought to light is tried again; attacks are run before their tests, so that these cannot do better the second time.
    retry: { count: process.env['SKILLCELL_SECOND_TRY'] === '1' ? 1 : 0, condition: /^(?!Property failed)/ },
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    // Most tests wait for other processes, deadlines and engines: one more than there are cores keeps these busy.
    maxWorkers: availableParallelism() + 1,
  },
});

export default config;
