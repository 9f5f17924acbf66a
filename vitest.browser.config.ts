import { defineConfig } from 'vitest/config'

/** The journeys of people, in a real browser: `npm run test:browser`. */
export default defineConfig({
  test: {
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['test/build.ts', 'test/browser/chromium.ts'],
    // One browser at a time: each has processes of its own.
    maxWorkers: 1,
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
})
