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

test('the reference lists every operation with examples in four languages, and runs one with the session of the browser', async () => {
  const visitor = await Visitor.of(browser, server.url, { language: 'en', width: 1280 })
  const { page } = visitor
  visitor.expectFault(/401.*\/compte$/)
  await visitor.go('/p/compte')
  await visitor.signIn(ACCOUNT)
  await visitor.go('/docs')
  const { paths } = (await (await server.anonymous('/openapi.json')).json()) as { paths: Record<string, object> }
  const operations = Object.values(paths).flatMap((path) => Object.keys(path)).length
  await expect.poll(() => page.locator('.opblock').count(), { timeout: 20_000 }).toBe(operations)
  const operation = page.locator('#operations-classement-get_classement')
  await operation.locator('button.opblock-summary-control').click()
  for (const label of ['curl', 'JavaScript', 'Python', 'PHP'])
    await operation.getByText(label, { exact: true }).first().waitFor()
  await page.screenshot({ path: 'test/browser/screenshots/reference.png', fullPage: false })
  await operation.getByRole('button', { name: 'Execute' }).click()
  await expect
    .poll(() => operation.locator('.live-responses-table').innerText(), { timeout: 20_000 })
    .toContain('"place": 1')
  visitor.checkFaults('reference')
  await visitor.close()
})
