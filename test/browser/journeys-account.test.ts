import { expect, test } from 'vitest'
import { ACCOUNT, OPERATOR } from '../harness.js'
import { journeys } from './journeys.js'
import { nameOf } from './visitor.js'

journeys(({ arrive, kind }) => {
  test('a wrong password is refused; after signing in, the visitor is on the page they asked for', async () => {
    const visitor = await arrive('/p/auteurs/1', null)
    const { page, words } = visitor
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
    expect(visitor.address()).toBe('/p/auteurs/1')
    expect(await visitor.heading()).toBe('Renard-Lunaire96')
    await page.getByRole('button', { name: words.shell.signOut }).click()
    await page.getByLabel(words.signIn.login).waitFor()
  })

  test('an account creates a key, which is shown once and works, and revokes it', async () => {
    const visitor = await arrive('/p/compte')
    const { page } = visitor
    const { compte, copy } = visitor.words
    const name = `bot ${nameOf(kind)}`
    await page.getByLabel(compte.createName).fill(name)
    await page.getByRole('button', { name: compte.createSubmit }).click()
    await page.getByText(compte.created(name)).waitFor()
    await page.getByRole('button', { name: copy.copy }).first().click()
    const key = await page.evaluate(() => navigator.clipboard.readText())
    const ask = async () =>
      (await fetch(`${visitor.url}/compte`, { headers: { authorization: `Bearer ${key}` } })).status
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
    const player = await arrive('/p/exploitation')
    player.expectFault(/403/)
    await player.page.getByText(player.words.errors.operator_required as string).waitFor()
    await player.look('operations refused')
    const visitor = await arrive('/p/exploitation', OPERATOR)
    const { page } = visitor
    await expect.poll(() => page.locator('.chart-canvas canvas').count()).toBeGreaterThan(1)
    await page.locator('.chart-canvas').nth(2).waitFor()
    await visitor.look('operations')
  })

  test('an unknown page says so, the chosen language persists, and the first Tab reaches the skip link', async () => {
    const visitor = await arrive('/p/nulle-part')
    const { page } = visitor
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
