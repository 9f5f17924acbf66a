import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { PATIENCE } from './test/patience.js'

const servers = ['test/build.ts', 'test/servers/global.ts']
/** Their cases grow with `share`. Most are random and differ in each run, so that runs add up. */
const SHARED = [
  'test/{properties,cached-answers,live-random}.test.ts',
  'src/portal/{round-trip,repeats}.test.ts',
  'src/store/counted/{tree,order}.test.ts',
]

export default defineConfig({
  test: {
    // Tests wait for servers part of the time.
    maxWorkers: availableParallelism() + 1,
    // The files of a worker share the modules that the first one loaded: loading them takes longer than most files.
    isolate: false,
    // These end what hangs, and nothing else: a machine may be slow, and busy with others.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    teardownTimeout: 60_000,
    expect: { poll: PATIENCE },
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['src/**/*.test.ts', 'test/*.test.ts', 'client/test/*.test.ts', 'web/src/**/*.test.ts'],
          globalSetup: servers,
          provide: { share: 0.15 },
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/{system,servers}/*.test.ts'],
          globalSetup: servers,
        },
      },
      {
        extends: true,
        test: {
          name: 'deep',
          include: SHARED,
          globalSetup: servers,
          provide: { share: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: ['test/build.ts', 'test/browser/chromium.ts'],
          // Each browser has processes of its own.
          maxWorkers: availableParallelism(),
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'client/src/**/*.ts'],
      exclude: ['src/**/*.test.ts'],
      reporter: ['text-summary', 'text'],
    },
  },
})
