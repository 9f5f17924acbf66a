import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { demoPortal } from '../../src/portal/demo.js'
import { ACCOUNT, addKey, startServer, type TestServer } from '../harness.js'
import { type Kind, launch, Visitor } from './visitor.js'

const KINDS: [string, Kind][] = [
  ['French', { language: 'fr', width: 360 }],
  ['English', { language: 'en', width: 1280 }],
]

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

describe.each(KINDS)('in %s', (_, kind) => {
  let visitor: Visitor
  let page: Page
  const arrive = async (path: string) => {
    visitor = await Visitor.of(browser, server.url, kind)
    page = visitor.page
    visitor.expectFault(/401.*\/compte$/)
    await visitor.go(path)
    await visitor.signIn(ACCOUNT)
  }
  afterEach(() => visitor.close())

  const choice = (label: string) => visitor.choice(label)
  const chosen = (label: string) => choice(label).locator('option:checked').innerText()
  const options = (label: string) => choice(label).locator('option').allInnerTexts()
  const count = () => page.locator('.count').first().innerText()

  test('the category in the URL is selected in both the challenges and the ranking; a malformed one is ignored', async () => {
    const [rubrique] = await server.json<{ id_rubrique: number; nom: string; nb_challenges: number }[]>('/rubriques')
    const { id_rubrique, nom, nb_challenges } = rubrique!
    await arrive(`/p/challenges?id_rubrique=${id_rubrique}`)
    const { challenges, classement, auteur, errors } = visitor.words
    expect([await chosen(challenges.rubrique), await count()]).toEqual([
      nom,
      challenges.count(nb_challenges, String(nb_challenges)),
    ])
    await visitor.look('challenges of a category')
    const all = (await server.json<unknown[]>('/challenges?limite=500')).length
    await visitor.go('/p/challenges?id_rubrique=web')
    expect([await chosen(challenges.rubrique), await count()]).toEqual([
      visitor.words.filters.all,
      challenges.count(all, String(all)),
    ])
    await visitor.go('/p/challenges?id_rubrique=999999')
    expect(await chosen(challenges.rubrique)).toBe(auteur.categoryNumber(999_999))
    await page.getByText(challenges.empty).waitFor()

    await visitor.go(`/p/classement?id_rubrique=${id_rubrique}`)
    expect(await chosen(classement.rubrique)).toBe(nom)
    const [first] = await server.json<{ nom: string }[]>(`/classement?id_rubrique=${id_rubrique}&limite=1`)
    expect(await page.locator('#ranking tbody tr').first().innerText()).toContain(first!.nom)
    visitor.expectFault(/404/)
    await visitor.go('/p/classement?id_rubrique=999999')
    expect(await chosen(classement.rubrique)).toBe(auteur.categoryNumber(999_999))
    await page
      .getByText(errors.resource_not_found as string)
      .first()
      .waitFor()
  })

  test('the ranking offers the years and months with a ranking, and also the one in the URL', async () => {
    const periodes = await server.json<{ periode: string; mois: string[] }[]>('/classement/periodes')
    expect(periodes.length).toBeGreaterThan(1)
    const { periode, mois } = periodes.at(-1)!
    expect(mois.length).toBeLessThan(12)
    await arrive('/p/classement?periode=soon')
    const { classement, filters } = visitor.words
    expect(await chosen(classement.year)).toBe(filters.all)
    expect(await options(classement.year)).toEqual([filters.all, ...periodes.map((each) => each.periode)])
    await choice(classement.year).selectOption(periode)
    await visitor.settled()
    expect(await options(classement.month)).toHaveLength(1 + mois.length)
    await choice(classement.month).selectOption(mois[0]!)
    await visitor.settled()
    expect(new URL(page.url()).search).toBe(`?periode=${mois[0]}`)
    await visitor.look('ranking of a month')
    await visitor.go('/p/classement?periode=1999-02')
    expect([await chosen(classement.year), await choice(classement.month).inputValue()]).toEqual(['1999', '1999-02'])
    await page.getByText(classement.empty).waitFor()
  })

  test('the last use of a key is shown to the hour, as it is recorded', async () => {
    const key = await addKey(server.store, ACCOUNT.login)
    const used = async (instant: number) =>
      server.store.write({ comptes: true }, async (db) => {
        await db.run(db.q.updateTable('cles_api').set({ derniere_utilisation: instant }))
      })
    expect(key).toMatch(/^palm_/)
    await used(Date.UTC(2024, 0, 31, 14) / 1000)
    await arrive('/p/compte')
    const { states, compte } = visitor.words
    const keys = page.getByRole('table', { name: compte.caption })
    expect(await keys.innerText()).toContain(states.hours('14', '15'))
    await visitor.look('last use')
    await used(Math.floor(Date.now() / 1000) - 60)
    await page.reload()
    await visitor.settled()
    expect(await keys.innerText()).toContain(states.lastHour)
  })
})
