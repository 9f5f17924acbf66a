import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { demoPortal } from '../../src/portal/demo.js'
import { ACCOUNT, addAccount, OPERATOR, startServer, type TestServer } from '../harness.js'
import { KINDS, type Kind, launch, nameOf, Visitor } from './visitor.js'

interface Journey {
  kind: Kind
  /** Opens a page of the demo portal as a new visitor, who signs in unless the account is null. */
  arrive(path: string, account?: { login: string; password: string } | null): Promise<Visitor>
}

/** Defines tests for each kind of visitor. Several files have some of them each, so that they run at the same time. */
export function journeys(define: (journey: Journey) => void): void {
  let server: TestServer
  let browser: Browser
  const visitors: Visitor[] = []

  beforeAll(async () => {
    server = await startServer([...demoPortal()] as never, { logLevel: 'silent' })
    await addAccount(server.store, OPERATOR)
    browser = await launch()
  })
  afterEach(async () => {
    for (const visitor of visitors.splice(0)) await visitor.close()
  })
  afterAll(async () => {
    await browser.close()
    await server.close()
  })

  describe.each(KINDS.map((kind) => [nameOf(kind), kind] as const))('in %s', (_, kind) => {
    const arrive: Journey['arrive'] = async (path, account = ACCOUNT) => {
      const visitor = await Visitor.of(browser, server.url, kind)
      visitors.push(visitor)
      // The page requests /compte before anyone is signed in.
      visitor.expectFault(/401.*\/compte$/)
      await visitor.go(path)
      if (account) await visitor.signIn(account)
      return visitor
    }
    define({ kind, arrive })
  })
}
