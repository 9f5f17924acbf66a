import { join } from 'node:path'
import axe from 'axe-core'
import {
  type Browser,
  type BrowserContext,
  type CDPSession,
  chromium,
  type Locator,
  type Page,
  type Request,
} from 'playwright-core'
import { expect, inject } from 'vitest'
import { en } from '../../web/src/i18n/en.js'
import { fr, type Words } from '../../web/src/i18n/fr.js'
import { PATIENCE } from '../patience.js'
import { SCREENSHOTS } from './chromium.js'

/** Disables the browser's own network traffic. */
const ARGUMENTS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
]

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: inject('chromium'), args: ARGUMENTS })
}

/** How many frames in a row a settled page draws without a request and without a part that is busy. */
const QUIET_FRAMES = 5

export type Language = 'fr' | 'en'

/** A kind of visitor: language, window width and colour scheme. */
export interface Kind {
  language: Language
  width: number
  colours?: 'light' | 'dark'
}

export const KINDS: readonly Kind[] = [
  { language: 'fr', width: 1280 },
  { language: 'en', width: 360 },
  { language: 'fr', width: 360, colours: 'dark' },
  { language: 'en', width: 1280, colours: 'dark' },
]

export function nameOf({ language, width, colours = 'light' }: Kind): string {
  return `${language} ${width} ${colours}`
}

/** A browser page with a signed-in or anonymous visitor. Records everything that must not happen. */
export class Visitor {
  readonly words: Words
  /** Dialogs, requests to other hosts, policy violations and script errors. */
  private readonly seen: string[] = []
  private readonly underWay = new Set<Request>()
  private inspector: Promise<CDPSession> | undefined
  /** Faults that a test causes on purpose, such as a refused login, which the browser logs. */
  private expected: RegExp[] = []

  private constructor(
    readonly kind: Kind,
    readonly url: string,
    readonly context: BrowserContext,
    readonly page: Page,
  ) {
    this.words = kind.language === 'fr' ? fr : en
  }

  static async of(browser: Browser, url: string, kind: Kind): Promise<Visitor> {
    const context = await browser.newContext({
      viewport: { width: kind.width, height: 800 },
      locale: kind.language === 'fr' ? 'fr-FR' : 'en-GB',
      colorScheme: kind.colours ?? 'light',
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    await context.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`)
      })
    })
    const page = await context.newPage()
    const visitor = new Visitor(kind, url, context, page)
    visitor.watch()
    return visitor
  }

  async go(path: string): Promise<void> {
    await this.page.goto(this.url + path)
    await this.settled()
  }

  /**
   * Waits until the page is idle. Frames take longer on a busy machine, and so does this. A search starts only some time after
   * a keystroke, so a test that types waits for its effect instead.
   */
  async settled(): Promise<void> {
    const deadline = Date.now() + PATIENCE.timeout
    for (let quiet = 0; quiet < QUIET_FRAMES; ) {
      const isIdle = (await this.page.evaluate(drawFrame).catch(() => false)) && this.underWay.size === 0
      quiet = isIdle ? quiet + 1 : 0
      if (Date.now() > deadline) throw new Error(`still loading: ${[...this.underWay].map((each) => each.url())}`)
    }
  }

  async signIn({ login, password }: { login: string; password: string }): Promise<void> {
    const { signIn } = this.words
    await this.page.getByLabel(signIn.login).fill(login)
    await this.page.getByLabel(signIn.password, { exact: true }).fill(password)
    await this.page.getByRole('button', { name: signIn.submit }).click()
    await this.settled()
  }

  /** Ignores this fault: the browser logs every error response, and this test causes one. */
  expectFault(fault: RegExp): void {
    this.expected.push(fault)
  }

  address(): string {
    const { pathname, search } = new URL(this.page.url())
    return pathname + search
  }

  heading(): Promise<string> {
    return this.page.getByRole('heading', { level: 1 }).innerText()
  }

  /** The rows of the tables of the page. */
  rows(): Locator {
    return this.page.locator('#content tbody tr, main tbody tr')
  }

  /** The selection field with a label. */
  choice(label: string): Locator {
    return this.page.locator('label').filter({ hasText: label }).locator('select').first()
  }

  /** Takes a screenshot, then checks accessibility, overflow and recorded faults. */
  async look(name: string): Promise<void> {
    await this.settled()
    const place = `${nameOf(this.kind)} ${name}`
    const path = join(SCREENSHOTS, `${place.replaceAll(' ', '-')}.png`)
    await this.page.screenshot({ path, fullPage: true, animations: 'disabled' })
    expect([place, await this.axeFaults()]).toEqual([place, []])
    const overflow = await this.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    expect([place, 'wider than the window by', Math.max(0, overflow)]).toEqual([place, 'wider than the window by', 0])
    this.checkFaults(place)
  }

  checkFaults(place: string): void {
    const faults = this.seen.filter((fault) => !this.expected.some((expected) => expected.test(fault)))
    expect([place, faults]).toEqual([place, []])
  }

  /** Clears the HTTP cache and keeps the session. */
  async clearCache(): Promise<void> {
    const session = await this.context.newCDPSession(this.page)
    await session.send('Network.clearBrowserCache')
    await session.detach()
  }

  close(): Promise<void> {
    return this.context.close()
  }

  private watch(): void {
    const { page, seen, url, underWay } = this
    page.on('dialog', async (dialog) => {
      seen.push(`dialog: ${dialog.message()}`)
      await dialog.dismiss()
    })
    page.on('pageerror', (error) => seen.push(`error: ${error.message}`))
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) seen.push(`${message.text()} ${message.location().url}`)
    })
    page.on('request', (request) => {
      const target = request.url()
      if (!target.startsWith(url) && !target.startsWith('data:')) seen.push(`request: ${target}`)
      underWay.add(request)
    })
    page.on('response', (response) => underWay.delete(response.request()))
    page.on('requestfailed', (request) => underWay.delete(request))
  }

  /** Checks WCAG 2.2 AA with axe, in an isolated world, which the page's security policy does not restrict. */
  private async axeFaults(): Promise<string[]> {
    this.inspector ??= this.context.newCDPSession(this.page)
    const session = await this.inspector
    const { frameTree } = await session.send('Page.getFrameTree')
    const world = { frameId: frameTree.frame.id, worldName: 'axe' }
    const { executionContextId } = await session.send('Page.createIsolatedWorld', world)
    const run = async (expression: string) => {
      const evaluated = { expression, contextId: executionContextId, awaitPromise: true, returnByValue: true }
      const { result, exceptionDetails } = await session.send('Runtime.evaluate', evaluated)
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
      return result.value as unknown
    }
    // The world, and axe in it, is there until the page loads another document.
    if (!(await run("typeof axe === 'object'"))) await run(axe.source)
    const found = await run(`axe.run(document, { runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target + ': ' + failureSummary)))`)
    return found as string[]
  }
}

/** Waits for the next frame of the page and what it causes. Returns whether no part of the page is busy then. */
function drawFrame(): Promise<boolean> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(() => resolve(!document.querySelector('[aria-busy="true"]'))))
  })
}

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
