import { expect, test } from 'vitest'
import { journeys } from './journeys.js'

journeys(({ arrive }) => {
  test('challenges are searched while typing, filtered and opened; back returns to the same list; filters are cleared', async () => {
    const visitor = await arrive('/p/challenges')
    const { page } = visitor
    const { challenges, challenge, chart, filters } = visitor.words
    await visitor.look('challenges')
    await page.getByLabel(challenges.search).fill('mot')
    await expect.poll(() => visitor.address()).toBe('/p/challenges?titre=mot')
    await visitor.settled()
    const found = await visitor.rows().count()
    expect(found).toBeGreaterThan(0)
    expect(found).toBeLessThan(50)
    await page.getByLabel(challenges.lang).selectOption('fr')
    await visitor.settled()
    await visitor.look('challenges found')
    const list = visitor.address()
    await visitor.rows().first().getByRole('link').first().click()
    await visitor.settled()
    await page.getByText(challenge.curve).first().waitFor()
    await page.getByText(chart.table).first().click()
    await expect.poll(() => page.locator('figure tbody tr').count()).toBeGreaterThan(0)
    await visitor.look('challenge')
    await page.goBack()
    await visitor.settled()
    expect(visitor.address()).toBe(list)
    await page.getByLabel(challenges.search).fill('nothing has this title')
    await page.getByText(challenges.empty).waitFor()
    await visitor.look('challenges none')
    await page.getByRole('link', { name: filters.clear }).click()
    await visitor.settled()
    expect([visitor.address(), await visitor.rows().count()]).toEqual(['/p/challenges', 50])
    expect(await page.getByLabel(challenges.search).inputValue()).toBe('')
  })

  test('virtual environments are listed, filtered and opened', async () => {
    const visitor = await arrive('/p/environnements')
    const { page } = visitor
    const { environnements } = visitor.words
    await visitor.look('environments')
    const all = await visitor.rows().count()
    await page.getByLabel(environnements.os).selectOption({ index: 1 })
    await visitor.settled()
    expect(await visitor.rows().count()).toBeLessThan(all)
    await visitor.rows().first().getByRole('link').first().click()
    await visitor.settled()
    expect(await visitor.heading()).not.toBe('')
    await visitor.look('environment')
  })
})
