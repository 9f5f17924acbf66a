import { existsSync, rmSync } from 'node:fs'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    chromium: string
  }
}

/** Where systems install the browser; the variable CHROMIUM names another path. */
const PLACES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Screenshots of the last run. */
export const SCREENSHOTS = 'test/browser/screenshots'

export default function provideChromium(project: TestProject): void {
  const chromium = PLACES.find((place) => place && existsSync(place))
  if (!chromium) {
    throw new Error("There is no Chromium. Install it, such as Debian's package chromium, or name it in CHROMIUM.")
  }
  rmSync(SCREENSHOTS, { recursive: true, force: true })
  project.provide('chromium', chromium)
  project.provide('postgresUrl', undefined)
}
