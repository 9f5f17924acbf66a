import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { changeSetting } from '../../src/portal/settings.js'
import { ACCOUNT, type DumpLine, startServer, type TestServer } from '../harness.js'
import { KINDS, launch, nameOf, Visitor } from './visitor.js'

const GROUPES = [
  'Lycée Jean-Moulin',
  'École 42 & Cie',
  '東京大学',
  '<b>gras</b>',
  'Université de la Réunion, département informatique',
]
/** The first author has an account, and is in the first group. */
const PORTAL: DumpLine[] = Array.from({ length: 60 }, (_, i) => ({
  ...{ type: 'auteur', id_auteur: i + 1, nom: `joueur-${i + 1}`, score: 600 - 10 * Math.floor(i / 2) },
  ...(i < 50 && { groupe: GROUPES[i % GROUPES.length] }),
}))

let server: TestServer
let crowded: TestServer
let browser: Browser
beforeAll(async () => {
  server = await startServer(PORTAL, { logLevel: 'silent' })
  const many = Array.from({ length: 600 }, (_, i) => ({ ...PORTAL[0], id_auteur: i + 1, groupe: `Équipe ${i + 1}` }))
  crowded = await startServer(many, { logLevel: 'silent' })
  browser = await launch()
})
afterAll(async () => {
  await browser.close()
  await server.close()
  await crowded.close()
})

describe.each(KINDS.map((kind) => [nameOf(kind), kind] as const))('in %s', (_, kind) => {
  let visitor: Visitor
  let page: Page
  const arrive = async (path: string, { url } = server) => {
    visitor = await Visitor.of(browser, url, kind)
    page = visitor.page
    // The page requests /compte before anyone is signed in.
    visitor.expectFault(/401.*\/compte$/)
    await visitor.go(path)
    await visitor.signIn(ACCOUNT)
  }
  afterEach(() => visitor.close())

  const address = () =>
    new URL(page.url()).pathname + decodeURIComponent(new URL(page.url()).search.replaceAll('+', ' '))
  const groupe = () => page.locator('search').getByLabel(visitor.words.groupes.label)
  const rules = () => page.locator('.rules').innerText()

  test('a group is selected in the ranking and among the players, and shown on a profile with a link to its ranking', async () => {
    await arrive('/p/classement')
    const { classement, groupes, auteurs } = visitor.words
    expect(await groupe().locator('option').allInnerTexts()).toEqual([
      groupes.all,
      ...(await server.json<{ nom: string }[]>('/groupes')).map(({ nom }) => nom),
    ])
    await groupe().selectOption('Lycée Jean-Moulin')
    await visitor.settled()
    expect(address()).toBe('/p/classement?groupe=Lycée Jean-Moulin')
    expect(await page.locator('#ranking tbody tr').count()).toBe(10)
    expect(await page.locator('.count').first().innerText()).toBe(classement.count(10, '10'))
    expect(await page.locator('.mine').innerText()).toContain(classement.mine('1', '600'))
    await visitor.look('ranking of a group')

    await page.getByRole('link', { name: 'joueur-11', exact: true }).click()
    await visitor.settled()
    await visitor.look('player of a group')
    await page.getByRole('link', { name: groupes.ranking }).click()
    await visitor.settled()
    expect(address()).toBe('/p/classement?groupe=Lycée Jean-Moulin')
    expect(await groupe().inputValue()).toBe('Lycée Jean-Moulin')

    visitor.expectFault(/404/)
    await visitor.go('/p/classement?groupe=%C3%A9COLE%2042%20%26%20cIE')
    expect(await groupe().inputValue()).toBe('éCOLE 42 & cIE')
    await page.getByText(classement.empty).waitFor()
    await visitor.go('/p/classement?groupe=%C3%89COLE%2042%20%26%20cIE')
    expect(await groupe().inputValue()).toBe('École 42 & Cie')
    expect(await page.locator('#ranking tbody tr').count()).toBe(10)
    await page.locator('label').filter({ hasText: classement.year }).locator('select').first().waitFor()

    await visitor.go('/p/auteurs')
    await groupe().selectOption('<b>gras</b>')
    await visitor.settled()
    expect(address()).toBe('/p/auteurs?groupe=<b>gras</b>')
    expect(await page.locator('.count').first().innerText()).toBe(auteurs.count(10, '10'))
    await page.getByLabel(auteurs.search).fill('-14')
    await expect.poll(address).toBe('/p/auteurs?groupe=<b>gras</b>&nom=-14')
    await visitor.settled()
    expect(await page.locator('.names li').allInnerTexts()).toEqual(['joueur-14'])
    await visitor.look('players of a group')
  })

  test('among many groups one is found by typing', async () => {
    await arrive('/p/classement', crowded)
    expect(await groupe().evaluate((field) => field.tagName)).toBe('INPUT')
    await groupe().fill('équipe 577')
    visitor.expectFault(/404/)
    await expect.poll(address).toBe('/p/classement?groupe=équipe 577')
    await groupe().fill('Équipe 577')
    await expect.poll(address).toBe('/p/classement?groupe=Équipe 577')
    await visitor.settled()
    expect(await page.locator('#ranking tbody tr').count()).toBe(1)
    await visitor.look('ranking of one of many groups')
  })

  test('the ranking says how ties are broken, and since when it is frozen', async () => {
    await arrive('/p/classement')
    const { departage, frozen } = visitor.words.classement
    expect(await rules()).toBe(departage.aucun)
    await changeSetting(server.store, 'departage', 'date')
    await visitor.go('/p/classement')
    expect(await rules()).toBe(departage.date)
    await page.route('**/classement/regles', (route) =>
      route.fulfill({ json: { departage: 'date', gel: '2026-03-01T12:00:00Z' } }),
    )
    await visitor.go('/p/classement')
    expect(await rules()).toContain(departage.date)
    expect(await rules()).toContain(frozen)
    expect(await page.locator('.rules time').getAttribute('datetime')).toBe('2026-03-01T12:00:00Z')
    await visitor.look('ranking by date')
    await changeSetting(server.store, 'departage', 'aucun')
  })
})

test('a portal without groups offers none', async () => {
  const alone = await startServer([{ type: 'auteur', id_auteur: 1, nom: 'seul' }], { logLevel: 'silent' })
  const visitor = await Visitor.of(browser, alone.url, KINDS[0]!)
  visitor.expectFault(/401.*\/compte$/)
  await visitor.go('/p/classement')
  await visitor.signIn(ACCOUNT)
  expect(await visitor.page.getByLabel(visitor.words.groupes.label).count()).toBe(0)
  await visitor.close()
  await alone.close()
})
