import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { portail } from '../fixtures.js'
import { addAccount, addKey, OPERATOR, startServer, type TestServer } from '../harness.js'
import { sessionOf } from '../wire.js'

const run = promisify(execFile)

interface Sample {
  label: string
  source: string
}
interface Described {
  method: string
  path: string
  samples: Sample[]
}

let server: TestServer
let env: Record<string, string>
let operations: Described[]
beforeAll(async () => {
  server = await startServer(portail)
  await addAccount(server.store, OPERATOR)
  env = {
    PALMARES_KEY: await addKey(server.store, OPERATOR.login, { portee: ['ecriture', 'export'] }),
    PALMARES_SESSION: (await sessionOf(server, OPERATOR)).replace('service_session=', ''),
  }
  const { paths } = (await (await server.anonymous('/openapi.json')).json()) as {
    paths: Record<string, Record<string, { 'x-codeSamples': Sample[] }>>
  }
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, each]) => ({ method, path, samples: each['x-codeSamples'] })),
  )
})
afterAll(() => server.close())

const ways: Record<string, (source: string) => [program: string, args: string[]]> = {
  curl: (source) => ['bash', ['-c', source.replace('curl', 'curl -sS')]],
  JavaScript: (source) => [process.execPath, ['--input-type=module', '-e', source]],
  Python: (source) => ['python3', ['-c', source]],
  PHP: (source) => ['php', ['-r', source.replace('<?php\n', '')]],
}

/** The id of a key that a sample may revoke. */
async function makeKey(): Promise<number> {
  const headers = { 'content-type': 'application/json', cookie: `service_session=${env.PALMARES_SESSION}` }
  const body = JSON.stringify({ nom: 'to be revoked', expiration: '2999-01-01T00:00:00Z' })
  const made = (await (await fetch(`${server.url}/cles_api`, { method: 'POST', headers, body })).json()) as {
    id: number
  }
  return made.id
}

test.each(Object.keys(ways))(
  'the %s sample of every operation runs unchanged and prints what the operation returns',
  async (label) => {
    const isThere = await run('which', [ways[label]!('')[0]]).catch(() => undefined)
    if (!isThere) return console.warn(`skipped: this machine has no ${label}`)
    for (const { method, path, samples } of operations) {
      // Ends the session that the others need, or asks for a password that no account has.
      if (path === '/login') continue
      const { source } = samples.find((each) => each.label === label) as Sample
      const id = method === 'delete' ? await makeKey() : 1
      const here = source.replaceAll('http://127.0.0.1:8080', server.url).replace('/cles_api/1', `/cles_api/${id}`)
      const [program, args] = ways[label]!(here)
      const { stdout } = await run(program, args, { env: { ...process.env, ...env } })
      const shown = method === 'delete' ? [] : stdout.trim().split('\n').map(parse)
      expect([method, path, shown.find((each) => each?.status !== undefined)]).toEqual([method, path, undefined])
    }
  },
  60_000,
)

/** The output is one JSON text, or one a line. */
function parse(line: string): { status?: unknown } {
  return JSON.parse(line)
}
