import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Real jails on a small machine: a slow start is no failure, a hang is.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
  },
});

export default config;
