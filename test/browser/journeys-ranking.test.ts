import { expect, test } from 'vitest'
import { journeys } from './journeys.js'

journeys(({ arrive }) => {
  test('the ranking shows shared places, goes to a place or to the own place, and filters; back returns', async () => {
    const visitor = await arrive('/')
    const { page } = visitor
    const { classement, pager, chart } = visitor.words
    await expect.poll(() => visitor.address()).toBe('/p/classement')
    await visitor.settled()
    expect(await visitor.rows().count()).toBe(50)
    await visitor.look('ranking')
    expect(await page.locator('.chart-canvas canvas').count()).toBe(1)
    await page.getByText(chart.table).first().click()
    await expect.poll(() => page.locator('figure tbody tr').count()).toBeGreaterThan(10)

    await page.getByRole('link', { name: pager.next }).first().click()
    await visitor.settled()
    expect(visitor.address()).toBe('/p/classement?debut=50')
    await page.goBack()
    await visitor.settled()
    expect(visitor.address()).toBe('/p/classement')

    await page.getByLabel(classement.jump).fill('2447')
    await page.getByRole('button', { name: classement.go, exact: true }).click()
    await visitor.settled()
    expect(await page.locator('#ranking').innerText()).toContain(classement.shared)

    await page.getByRole('link', { name: classement.findMe }).click()
    await visitor.settled()
    expect(await page.locator('#ranking tr[aria-current="true"]').innerText()).toContain('Renard-Lunaire96')
    await visitor.look('ranking find me')

    await visitor.choice(classement.year).selectOption('2026')
    await visitor.settled()
    expect(visitor.address()).toBe('/p/classement?periode=2026')
    await visitor.choice(classement.rubrique).selectOption({ index: 1 })
    await visitor.settled()
    expect(visitor.address()).toMatch(/^\/p\/classement\?id_rubrique=\d+$/)
    await visitor.look('ranking of a category')
  })

  test('players are found by a part of their name, and their profile shows their solves', async () => {
    const visitor = await arrive('/p/auteurs')
    const { page } = visitor
    const { auteurs, auteur, chart } = visitor.words
    await visitor.look('players')
    await page.getByLabel(auteurs.search).fill('renard-lunaire')
    await expect.poll(() => visitor.address()).toBe('/p/auteurs?nom=renard-lunaire')
    await visitor.settled()
    await page.getByRole('link', { name: 'Renard-Lunaire96' }).click()
    await visitor.settled()
    expect(await visitor.heading()).toBe('Renard-Lunaire96')
    await page.getByText(auteur.progression).first().waitFor()
    await page.getByText(chart.table).first().click()
    await visitor.look('player')
    await visitor.go('/p/auteurs/999999')
    await page.getByText(visitor.words.errors.resource_not_found as string).waitFor()
    visitor.expectFault(/404/)
    await visitor.look('player missing')
  })
})
