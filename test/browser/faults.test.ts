import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { portail } from '../fixtures.js'
import { ACCOUNT, startServer, type TestServer } from '../harness.js'
import { launch, Visitor } from './visitor.js'

let server: TestServer
let browser: Browser
beforeAll(async () => {
  server = await startServer(portail, { logLevel: 'silent' })
  browser = await launch()
})
afterAll(async () => {
  await browser.close()
  await server.close()
})

async function arrive(): Promise<Visitor> {
  const visitor = await Visitor.of(browser, server.url, { language: 'en', width: 1280 })
  visitor.expectFault(/401.*\/compte$/)
  return visitor
}

test('a page whose code is missing, as after an upgrade, reloads once, then shows an error with a retry', async () => {
  const visitor = await arrive()
  const { page, words } = visitor
  await visitor.go('/p/classement')
  await visitor.signIn(ACCOUNT)
  const known = new Set(await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name)))
  let isGone = true
  await page.route('**/assets/*.js', (route) =>
    isGone && !known.has(route.request().url()) ? route.fulfill({ status: 401, body: '{}' }) : route.continue(),
  )
  visitor.expectFault(/401.*\/assets\/|dynamically imported module/)
  let loads = 0
  page.on('load', () => loads++)
  await page.getByRole('link', { name: words.nav.compte }).click()
  await page.getByText(words.states.failed).waitFor()
  expect(loads).toBe(1)
  await visitor.look('code gone')
  isGone = false
  await page.getByRole('button', { name: words.states.retry }).click()
  await page.getByText(words.compte.keys).first().waitFor()
  visitor.checkFaults('code back')
  await visitor.close()
})

test('an unreachable server is reported, and a retry shows the data once it is back', async () => {
  const visitor = await arrive()
  const { page, words } = visitor
  await visitor.go('/p/challenges')
  await visitor.signIn(ACCOUNT)
  await page.route('**/challenges?*', (route) => route.abort())
  visitor.expectFault(/ERR_FAILED/)
  await page.getByLabel(words.challenges.search).fill('a')
  await page.getByText(words.errors.unreachable as string).waitFor({ timeout: 20_000 })
  await visitor.look('unreachable')
  await page.unroute('**/challenges?*')
  await page.getByRole('button', { name: words.states.retry }).click()
  await page.getByText(words.errors.unreachable as string).waitFor({ state: 'detached' })
  visitor.checkFaults('reachable')
  await visitor.close()
})

test('the page works in a browser without storage', async () => {
  const visitor = await arrive()
  const { page, words } = visitor
  await page.addInitScript(() => {
    for (const area of ['localStorage', 'sessionStorage']) {
      Object.defineProperty(window, area, {
        get() {
          throw new Error('no storage here')
        },
      })
    }
  })
  await visitor.go('/p/classement')
  await visitor.signIn(ACCOUNT)
  await page.getByRole('button', { name: words.shell.otherLanguage }).click()
  await expect.poll(() => page.locator('html').getAttribute('lang')).toBe('fr')
  expect(await page.locator('#ranking tbody tr').count()).toBeGreaterThan(0)
  visitor.checkFaults('no storage')
  await visitor.close()
})
