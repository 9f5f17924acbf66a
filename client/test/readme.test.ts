import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { portail } from '../../test/fixtures.js'
import { ACCOUNT, addAccount, addKey, startServer, type TestServer } from '../../test/harness.js'

/** What each example of the README prints on the test portal, by heading. */
const printed: Record<string, RegExp> = {
  'First request': /^alice has 120 points and place 1\.$/,
  'Read a list': /^3 of 11, then http.*debut_classement=3\n1 alice\n[\s\S]*\n10 a_b\\c\/d$/,
  'Poll with a cache': /^first is alice\nunchanged\nunchanged$/,
  Errors: /^resource_not_found 404 \S+$/,
  'Send solves': /^1 new, 0 known$/,
  'In a browser': /^\[ 'test', 'mon bot' \]$/,
}

let server: TestServer
let key: string

beforeAll(async () => {
  server = await startServer(portail)
  await addAccount(server.store, { login: 'op', password: ACCOUNT.password, idAuteur: 2, operator: true })
  key = await addKey(server.store, 'op', { portee: ['ecriture'] })
})

afterAll(() => server.close())

const examples = [
  ...readFileSync('client/README.md', 'utf8').matchAll(/^## (.+)$(?:(?!^## )[\s\S])*?^```js\n([\s\S]*?)^```/gm),
]

test.each(examples.map(([, title, code]) => ({ title: title!, code: code! })))(
  'the example of client/README.md runs: $title',
  async ({ title, code }) => {
    const source = browserOf(title) + code.replaceAll('http://127.0.0.1:8080', server.url)
    const env = { ...process.env, PALMARES_KEY: key, NO_COLOR: '1' }
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', source], { env })
    expect(stdout.trim()).toMatch(printed[title]!)
  },
)

test('every example of client/README.md is tested here', () => {
  expect(examples.map(([, title]) => title)).toEqual(Object.keys(printed))
  expect(readFileSync('client/README.md', 'utf8').split('```js\n')).toHaveLength(examples.length + 1)
})

/** What a browser has and Node lacks: the URL of the page, and cookies. */
function browserOf(title: string): string {
  if (title !== 'In a browser') return ''
  return `
    globalThis.location = new URL('${server.url}/p/')
    const own = globalThis.fetch
    let cookie = ''
    globalThis.fetch = async (url, init) => {
      const headers = new Headers(init.headers)
      if (init.credentials === 'same-origin' && cookie) headers.set('cookie', cookie)
      const response = await own(url, { ...init, headers })
      cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie
      return response
    }
  `
}
