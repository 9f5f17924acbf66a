import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { filters } from '../../src/rootme/routes.js'
import { portail } from '../fixtures.js'
import { startServer, type TestServer } from '../harness.js'
import { section, table } from '../markdown.js'

const PAGE = 'docs/CLIENTS.md'
const run = promisify(execFile)

let server: TestServer
beforeAll(async () => {
  server = await startServer(portail)
})
afterAll(() => server.close())

const programs: Record<string, (source: string) => [program: string, args: string[]]> = {
  sh: (source) => ['bash', ['-ec', source]],
  python: (source) => ['python3', ['-c', source]],
  js: (source) => [process.execPath, ['--input-type=module', '-e', source]],
}

describe('docs/CLIENTS.md', () => {
  test.each(Object.keys(programs))('its %s runs unchanged and prints the data of the portal', async (language) => {
    const [program] = programs[language]!('')
    if (!(await run('which', [program]).catch(() => undefined))) return console.warn(`skipped: no ${program} here`)
    const sources = [
      ...readFileSync(PAGE, 'utf8').matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm')),
    ]
    const outputs = await Promise.all(
      sources.map(async ([, source]) => {
        const env = { ...process.env, PALMARES_URL: server.url, PALMARES_KEY: server.key }
        return (await run(...programs[language]!(source!), { env })).stdout
      }),
    )
    const expected = {
      sh: '"position":1',
      python: '90 Der Eingang',
      js: 'alice is curious, with 120 points at place 1',
    }
    expect(outputs.join()).toContain(expected[language as keyof typeof expected])
  })

  test('lists the filters and the fields of every body, in order', async () => {
    const rows = table(section(PAGE, 'Bodies'), 'Path')
    expect(rows).toHaveLength(7)
    for (const { Path, Filters, Body } of rows) {
      const [, , noun, id] = Path!.split('/')
      const answer = await server.json<Record<string, unknown>>(Path!.replace('{id}', '1'))
      const payload = noun === 'auteurs' && id ? answer : (answer[0] as Record<string, unknown>)
      const fields = Object.keys(id ? payload : (payload['0'] as object))
      expect([Path, Body!.replace(/ [[{][^\]}]*[\]}]/g, '')]).toEqual([Path, fields.join(', ')])
      expect([Path, Filters]).toEqual([Path, id ? '' : Object.keys(filters[noun as keyof typeof filters]).join(', ')])
    }
  })
})
