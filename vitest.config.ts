import { availableParallelism } from 'node:os';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/global-setup.ts'],
    // Real jails on a small machine: a slow start is no failure, a hang is.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Most tests wait for other processes, deadlines and engines: one more than there are cores keeps these busy.
    maxWorkers: availableParallelism() + 1,
  },
});

export default config;
