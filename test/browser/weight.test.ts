import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { demoPortal } from '../../src/portal/demo.js'
import { ACCOUNT, startServer, type TestServer } from '../harness.js'
import { launch, Visitor } from './visitor.js'

const MAX_FIRST_VIEW_BYTES = 100_000
/** Imperceptible: https://web.dev/articles/cls calls up to 0.1 good. */
const MAX_SHIFT = 0.01

let server: TestServer
let browser: Browser
beforeAll(async () => {
  server = await startServer([...demoPortal()] as never, { logLevel: 'silent' })
  browser = await launch()
})
afterAll(async () => {
  await browser.close()
  await server.close()
})

test.each([360, 1280])('a first view at %i px is light, does not shift, and requests its files once', async (width) => {
  const visitor = await Visitor.of(browser, server.url, { language: 'fr', width })
  visitor.expectFault(/401.*\/compte$/)
  await visitor.go('/p/classement')
  await visitor.signIn(ACCOUNT)
  for (const path of ['/p/classement', '/p/challenges', '/p/challenges/7', '/p/auteurs/1', '/p/compte']) {
    // Every view starts with an empty cache.
    await visitor.clearCache()
    const bytes = await weigh(visitor.page, () => visitor.go(path))
    expect([path, bytes < MAX_FIRST_VIEW_BYTES, bytes]).toEqual([path, true, bytes])
    const shift = await visitor.page.evaluate(shiftSeen)
    expect([path, shift < MAX_SHIFT, shift]).toEqual([path, true, shift])
  }
  const again: string[] = []
  visitor.page.on('response', (response) => {
    if (response.url().includes('/assets/') && !response.fromServiceWorker()) again.push(response.url())
  })
  const { page } = visitor
  await page.reload()
  await visitor.settled()
  const sent = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter((entry) => entry.name.includes('/assets/') && (entry as PerformanceResourceTiming).transferSize > 0)
      .map(({ name }) => name),
  )
  expect(again.length).toBeGreaterThan(0)
  expect(sent).toEqual([])
  await visitor.close()
})

/** The bytes received during `work`, headers included. */
async function weigh(page: Page, work: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  let bytes = 0
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength
  })
  await work()
  await session.detach()
  return bytes
}

/** The cumulative layout shift, as the browser measures it. */
function shiftSeen(): Promise<number> {
  return new Promise((resolve) => {
    let sum = 0
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[]) {
        if (!entry.hadRecentInput) sum += entry.value
      }
    }).observe({ type: 'layout-shift', buffered: true })
    setTimeout(() => resolve(sum), 200)
  })
}
