import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { demoPortal } from '../../src/portal/demo.js'
import { ACCOUNT, addAccount, OPERATOR, startServer, type TestServer } from '../harness.js'
import { KINDS, launch, nameOf, Visitor } from './visitor.js'

let server: TestServer
let browser: Browser
beforeAll(async () => {
  server = await startServer([...demoPortal()] as never, { logLevel: 'silent' })
  await addAccount(server.store, OPERATOR)
  browser = await launch()
})
afterAll(async () => {
  await browser.close()
  await server.close()
})

describe.each(KINDS.map((kind) => [nameOf(kind), kind] as const))('in %s', (_, kind) => {
  let visitor: Visitor
  let page: Page
  const arrive = async (path: string, account: { login: string; password: string } | null = ACCOUNT) => {
    visitor = await Visitor.of(browser, server.url, kind)
    page = visitor.page
    // The page requests /compte before anyone is signed in.
    visitor.expectFault(/401.*\/compte$/)
    await visitor.go(path)
    if (account) await visitor.signIn(account)
  }
  afterEach(() => visitor.close())

  const rows = () => page.locator('#content tbody tr, main tbody tr')
  const choice = (label: string) => page.locator('label').filter({ hasText: label }).locator('select').first()
  const address = () => new URL(page.url()).pathname + new URL(page.url()).search
  const heading = () => page.getByRole('heading', { level: 1 }).innerText()

  test('a wrong password is refused; after signing in, the visitor is on the page they asked for', async () => {
    await arrive('/p/auteurs/1', null)
    const { words } = visitor
    expect(await page.locator('html').getAttribute('lang')).toBe(kind.language)
    await visitor.look('sign-in')
    visitor.expectFault(/401.*\/login$/)
    await visitor.signIn({ login: ACCOUNT.login, password: 'wrong' })
    await page
      .getByRole('alert')
      .filter({ hasText: words.errors.login_refused as string })
      .waitFor()
    await visitor.look('sign-in refused')
    await visitor.signIn(ACCOUNT)
    expect(address()).toBe('/p/auteurs/1')
    expect(await heading()).toBe('Renard-Lunaire96')
    await page.getByRole('button', { name: words.shell.signOut }).click()
    await page.getByLabel(words.signIn.login).waitFor()
  })

  test('the ranking shows shared places, goes to a place or to the own place, and filters; back returns', async () => {
    await arrive('/')
    const { classement, pager, chart } = visitor.words
    await expect.poll(address).toBe('/p/classement')
    await visitor.settled()
    expect(await rows().count()).toBe(50)
    await visitor.look('ranking')
    expect(await page.locator('.chart-canvas canvas').count()).toBe(1)
    await page.getByText(chart.table).first().click()
    await expect.poll(() => page.locator('figure tbody tr').count()).toBeGreaterThan(10)

    await page.getByRole('link', { name: pager.next }).first().click()
    await visitor.settled()
    expect(address()).toBe('/p/classement?debut=50')
    await page.goBack()
    await visitor.settled()
    expect(address()).toBe('/p/classement')

    await page.getByLabel(classement.jump).fill('2447')
    await page.getByRole('button', { name: classement.go, exact: true }).click()
    await visitor.settled()
    expect(await page.locator('#ranking').innerText()).toContain(classement.shared)

    await page.getByRole('link', { name: classement.findMe }).click()
    await visitor.settled()
    expect(await page.locator('#ranking tr[aria-current="true"]').innerText()).toContain('Renard-Lunaire96')
    await visitor.look('ranking find me')

    await choice(classement.year).selectOption('2026')
    await visitor.settled()
    expect(address()).toBe('/p/classement?periode=2026')
    await choice(classement.rubrique).selectOption({ index: 1 })
    await visitor.settled()
    expect(address()).toMatch(/^\/p\/classement\?id_rubrique=\d+$/)
    await visitor.look('ranking of a category')
  })

  test('challenges are searched while typing, filtered and opened; back returns to the same list; filters are cleared', async () => {
    await arrive('/p/challenges')
    const { challenges, challenge, chart, filters } = visitor.words
    await visitor.look('challenges')
    await page.getByLabel(challenges.search).fill('mot')
    await expect.poll(address).toBe('/p/challenges?titre=mot')
    await visitor.settled()
    const found = await rows().count()
    expect(found).toBeGreaterThan(0)
    expect(found).toBeLessThan(50)
    await page.getByLabel(challenges.lang).selectOption('fr')
    await visitor.settled()
    await visitor.look('challenges found')
    const list = address()
    await rows().first().getByRole('link').first().click()
    await visitor.settled()
    await page.getByText(challenge.curve).first().waitFor()
    await page.getByText(chart.table).first().click()
    await expect.poll(() => page.locator('figure tbody tr').count()).toBeGreaterThan(0)
    await visitor.look('challenge')
    await page.goBack()
    await visitor.settled()
    expect(address()).toBe(list)
    await page.getByLabel(challenges.search).fill('nothing has this title')
    await page.getByText(challenges.empty).waitFor()
    await visitor.look('challenges none')
    await page.getByRole('link', { name: filters.clear }).click()
    await visitor.settled()
    expect([address(), await rows().count()]).toEqual(['/p/challenges', 50])
    expect(await page.getByLabel(challenges.search).inputValue()).toBe('')
  })

  test('players are found by a part of their name, and their profile shows their solves', async () => {
    await arrive('/p/auteurs')
    const { auteurs, auteur, chart } = visitor.words
    await visitor.look('players')
    await page.getByLabel(auteurs.search).fill('renard-lunaire')
    await expect.poll(address).toBe('/p/auteurs?nom=renard-lunaire')
    await visitor.settled()
    await page.getByRole('link', { name: 'Renard-Lunaire96' }).click()
    await visitor.settled()
    expect(await heading()).toBe('Renard-Lunaire96')
    await page.getByText(auteur.progression).first().waitFor()
    await page.getByText(chart.table).first().click()
    await visitor.look('player')
    await visitor.go('/p/auteurs/999999')
    await page.getByText(visitor.words.errors.resource_not_found as string).waitFor()
    visitor.expectFault(/404/)
    await visitor.look('player missing')
  })

  test('virtual environments are listed, filtered and opened', async () => {
    await arrive('/p/environnements')
    const { environnements } = visitor.words
    await visitor.look('environments')
    const all = await rows().count()
    await page.getByLabel(environnements.os).selectOption({ index: 1 })
    await visitor.settled()
    expect(await rows().count()).toBeLessThan(all)
    await rows().first().getByRole('link').first().click()
    await visitor.settled()
    expect(await heading()).not.toBe('')
    await visitor.look('environment')
  })

  test('an account creates a key, which is shown once and works, and revokes it', async () => {
    await arrive('/p/compte')
    const { compte, copy } = visitor.words
    const name = `bot ${nameOf(kind)}`
    await page.getByLabel(compte.createName).fill(name)
    await page.getByRole('button', { name: compte.createSubmit }).click()
    await page.getByText(compte.created(name)).waitFor()
    await page.getByRole('button', { name: copy.copy }).first().click()
    const key = await page.evaluate(() => navigator.clipboard.readText())
    const ask = async () =>
      (await fetch(`${server.url}/compte`, { headers: { authorization: `Bearer ${key}` } })).status
    expect(await ask()).toBe(200)
    await visitor.look('key created')
    await page.getByRole('button', { name: compte.done }).click()
    await visitor.settled()
    expect(await page.content()).not.toContain(key)
    await visitor.look('account')
    await page.getByRole('button', { name: compte.revokeNamed(name) }).click()
    await visitor.look('revoke')
    await page.getByRole('dialog').getByRole('button', { name: compte.revoke }).click()
    await page.getByText(compte.revoked(name)).first().waitFor()
    expect(await ask()).toBe(401)
  })

  test('an operator sees live data of the server; others see that the page is for operators', async () => {
    await arrive('/p/exploitation')
    visitor.expectFault(/403/)
    await page.getByText(visitor.words.errors.operator_required as string).waitFor()
    await visitor.look('operations refused')
    await visitor.close()
    await arrive('/p/exploitation', OPERATOR)
    await expect.poll(() => page.locator('.chart-canvas canvas').count(), { timeout: 15_000 }).toBeGreaterThan(1)
    await page.locator('.chart-canvas').nth(2).waitFor()
    await visitor.look('operations')
  })

  test('an unknown page says so, the chosen language persists, and the first Tab reaches the skip link', async () => {
    await arrive('/p/nulle-part')
    const { missing, shell } = visitor.words
    await page.getByText(missing.title).first().waitFor()
    await visitor.look('missing')
    await page.keyboard.press('Tab')
    await visitor.go('/p/classement')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(shell.skip)
    await page.getByRole('button', { name: shell.otherLanguage }).click()
    const other = kind.language === 'fr' ? 'en' : 'fr'
    await expect.poll(() => page.locator('html').getAttribute('lang')).toBe(other)
    await page.reload()
    await visitor.settled()
    expect(await page.locator('html').getAttribute('lang')).toBe(other)
    visitor.checkFaults('language')
  })
})
