import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/{*,servers/*}.test.ts', 'client/test/**/*.test.ts', 'web/src/**/*.test.ts'],
    globalSetup: ['test/build.ts', 'test/servers/global.ts'],
    // Most of the time is spent waiting for servers and processes, so one file more at once than there are cores to spare.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'client/src/**/*.ts'],
      exclude: ['src/**/*.test.ts'],
      reporter: ['text-summary', 'text'],
    },
  },
})
