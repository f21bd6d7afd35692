import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Real jails on a small machine: a slow start is no failure, a hang is.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Most tests wait for other processes; half of the cores, as is the default, would wait with them.
    maxWorkers: '100%',
  },
});

export default config;
