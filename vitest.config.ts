import { defineConfig } from 'vitest/config'
import { PATIENCE } from './test/patience.js'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/{*,servers/*}.test.ts', 'client/test/**/*.test.ts', 'web/src/**/*.test.ts'],
    globalSetup: ['test/build.ts', 'test/servers/global.ts'],
    // Most of the time is spent waiting for servers and processes, so one file more at once than there are cores to spare.
    maxWorkers: 2,
    // They end what hangs, and nothing else: a machine may be slow, and busy with others.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    teardownTimeout: 60_000,
    expect: { poll: PATIENCE },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'client/src/**/*.ts'],
      exclude: ['src/**/*.test.ts'],
      reporter: ['text-summary', 'text'],
    },
  },
})
