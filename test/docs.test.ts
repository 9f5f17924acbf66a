import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command, Option } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeProgram } from '../src/cli/program.js'
import { catalogue } from '../src/errors.js'
import type { Field } from '../src/model/kind.js'
import { KINDS, keyFields } from '../src/model/kinds.js'
import { checkPortal } from '../src/portal/check.js'
import { MAX_LINE_BYTES } from '../src/portal/lines.js'
import { startServer, type TestServer } from './harness.js'
import { anchor, markdownFiles, prose, section, sections, table } from './markdown.js'
import { accessOf, fieldsOf, type OpenApi, type Operation, takenBy } from './openapi.js'

const API = 'docs/API.md'
const CONFIGURATION = 'docs/CONFIGURATION.md'
const DUMP = 'docs/DUMP.md'

const program = await makeProgram()
let server: TestServer
let openapi: OpenApi

beforeAll(async () => {
  server = await startServer([{ type: 'auteur', id_auteur: 1, nom: 'a' }])
  openapi = (await (await server.anonymous('/openapi.json')).json()) as OpenApi
})

afterAll(() => server.close())

describe('docs/API.md', () => {
  test('has a section for every operation that is served, and for no other', () => {
    const documented = sections(API).map(({ title }) => title)
    expect(documented.filter((title) => /^[A-Z]+ \//.test(title))).toEqual(operations().map(({ title }) => title))
  })

  test('states who may call each operation, and every status that it returns', () => {
    for (const { title, operation } of operations()) {
      const statuses = Object.keys(operation.responses).sort().join(', ')
      expect(section(API, title), title).toContain(`\nAccess: ${accessOf(operation)}. Statuses: ${statuses}.\n`)
    }
  })

  test('lists every parameter of each operation, its location and its values', () => {
    for (const { title, operation } of operations()) {
      const documented = table(section(API, title), 'Parameter').map(({ Parameter, In, Takes }) => [
        Parameter,
        In,
        Takes,
      ])
      expect(documented, title).toEqual(
        operation.parameters.map((parameter) => [parameter.name, parameter.in, takenBy(parameter.schema)]),
      )
    }
  })

  test('lists every field of each body, in order, with its type', () => {
    for (const { title, operation } of operations()) {
      const body = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))![1].content
      expect(typed(title, 'Field'), title).toEqual(body ? fieldsOf(body['application/json']!.schema) : [])
      const sent = operation.requestBody && Object.values(operation.requestBody.content)[0]!.schema
      expect(typed(title, 'Send'), title).toEqual(sent ? fieldsOf(sent) : [])
    }
  })

  test('lists every error code of the catalogue with its status and its cause', () => {
    const rows = table(section(API, 'Errors'), 'Code')
    expect(rows.map(({ Code, Status }) => [Code, Number(Status)])).toEqual(
      Object.entries(catalogue).map(([code, { status }]) => [code, status]),
    )
    expect(rows.filter(({ When }) => !When)).toEqual([])
  })

  test('gives the limits that the options of serve set', () => {
    const options = optionsOf('serve')
    for (const row of table(section(API, 'Limits'), 'Limit').filter(({ Option }) => Option !== 'none')) {
      const option = options.find(({ long }) => long === row.Option)
      expect(row.Default?.replace(/,/g, ''), row.Option).toMatch(new RegExp(`^${option?.defaultValue}\\b`))
    }
  })

  function operations(): { title: string; operation: Operation }[] {
    return Object.entries(openapi.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        title: `${method.toUpperCase()} ${path}`,
        operation,
      })),
    )
  }

  function typed(title: string, column: string) {
    return table(section(API, title), column).map((row) => [row[column], row.Type])
  }
})

test('docs/openapi.json is what the server generates; `npm run openapi` updates it', async () => {
  await expect(`${JSON.stringify(openapi, null, 2)}\n`).toMatchFileSnapshot('../docs/openapi.json')
})

describe('docs/CONFIGURATION.md', () => {
  test('has a section for every command that exists, and for no other', () => {
    const documented = sections(CONFIGURATION).map(({ title }) => /^palmares ([a-z ]+)/.exec(title)?.[1]?.trim())
    expect(documented.filter(Boolean).sort()).toEqual(leaves().map(fullName).sort())
  })

  test('lists every option of each command with its environment variable and its default', () => {
    for (const command of leaves()) {
      const name = fullName(command)
      const text = sections(CONFIGURATION).find(({ title }) => new RegExp(`^palmares ${name}\\b`).test(title))!.text
      const rows = table(text, 'Option')
      expect(
        rows.map(({ Option, Variable, Default }) => [Option, Variable, Default]),
        name,
      ).toEqual(command.options.map((option) => [option.flags, variableOf(option), defaultOf(option)]))
      expect(rows.filter(({ Note }) => !Note)).toEqual([])
    }
  })

  test('lists every metric with its kind and its labels', () => {
    const rows = table(section(CONFIGURATION, 'Metrics'), 'Metric')
    const families = rows.filter(({ Metric }) => Metric!.includes('*')).flatMap(({ Metric }) => Metric!.split(', '))
    const own = server.metrics.registry
      .getMetricsAsArray()
      .filter(({ name }) => !families.some((family) => name.startsWith(family.replace('*', ''))))
    const documented = rows.filter(({ Metric }) => !Metric!.includes('*'))
    expect(documented.map(({ Metric, Kind, Labels }) => [Metric, Kind, Labels]).sort()).toEqual(
      own.map((metric) => [metric.name, String(metric.type), labelsOf(metric)]).sort(),
    )
  })

  test('lists every field of the log', async () => {
    await server.get('/auteurs')
    await server.anonymous('/auteurs')
    const documented = table(section(CONFIGURATION, 'Logs'), 'Field').map(({ Field }) => Field)
    const logged = new Set(server.log.flatMap((line) => Object.keys(JSON.parse(line))))
    expect([...logged].filter((field) => !documented.includes(field))).toEqual([])
    expect(documented.filter((field) => !logged.has(field!))).toEqual(['err', 'suppressed', 'signal'])
  })

  test('has advice for each finding of check', async () => {
    const { findings } = await checkPortal(server.store)
    const rows = table(section(CONFIGURATION, 'palmares check'), 'Looked at')
    expect(rows.map((row) => row['Looked at'])).toEqual(findings.map(({ what }) => what))
  })
})

describe('docs/DUMP.md', () => {
  const kinds = [...KINDS, { type: 'compte.cles', key: [] as string[], fields: keyFields }]

  test.each(kinds)('lists every field of $type in order, and whether it is required', ({ type, fields }) => {
    const rows = table(section(DUMP, type), 'Field')
    expect(rows.map(({ Field, Required }) => [Field, Required])).toEqual(
      Object.entries(fields).map(([name, field]) => [name, accepts(field, undefined) ? 'no' : 'yes']),
    )
  })

  test.each(kinds)('marks the key of $type', ({ type, key }) => {
    const bold = [...section(DUMP, type).matchAll(/\*\*`(\w+)`\*\*/g)].map((match) => match[1])
    expect(bold).toEqual(key)
  })

  test.each(kinds)('gives the limits of the fields of $type', ({ type, fields }) => {
    for (const { Field: name, Takes } of table(section(DUMP, type), 'Field')) {
      const { inside, outside } = samplesOf(Takes!)
      const field = (fields as Record<string, Field>)[name!]!
      expect([inside.filter((each) => !accepts(field, each)), outside.filter((each) => accepts(field, each))]).toEqual([
        [],
        [],
      ])
    }
  })

  test('documents the types that the importer accepts, and no others', () => {
    const documented = sections(DUMP).map(({ title }) => title)
    expect(documented.filter((title) => /^[a-z_.]+$/.test(title))).toEqual(kinds.map(({ type }) => type))
  })

  test('gives the maximum length of a line', () => {
    const [line] = table(section(DUMP, 'Limits'), 'What')
    expect(line!.Limit).toBe(`${MAX_LINE_BYTES.toLocaleString('en')} bytes`)
  })
})

describe('every Markdown file', () => {
  test.each(markdownFiles())('%s: it has no unfinished line', (file) => {
    expect(readFileSync(file, 'utf8')).not.toMatch(/^[A-Z]{3,}$|\bTODO\b|\bTBD\b/m)
  })

  test.each(markdownFiles())('%s: its relative links resolve', (file) => {
    const links = [...prose(readFileSync(file, 'utf8')).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!)
    const broken = links.filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(file, link))
    expect(broken).toEqual([])
  })

  test.each(markdownFiles())('%s: the files and scripts that it names exist', (file) => {
    const text = readFileSync(file, 'utf8')
    const { scripts } = readPackage()
    const named = [...text.matchAll(/npm (?:run )?(?:--silent )?([a-z]+(?::[a-z]+)*)/g)].map((match) => match[1]!)
    const own = named.filter((name) => !['ci', 'install', 'link', 'pack', 'run'].includes(name))
    expect(own.filter((name) => !(name in scripts))).toEqual([])
    const paths = [...text.matchAll(/`((?:src|test|bench|docs|\.ci)\/[\w./-]*)`/g)].map((match) => match[1]!)
    expect(paths.filter((path) => !path.includes('NNNN') && !existsSync(path))).toEqual([])
  })
})

test('the README has the two commands that CI and newcomers run', () => {
  const lines = readFileSync('README.md', 'utf8').split('\n')
  expect(lines.filter((line) => line === 'npm ci && npm start')).toHaveLength(1)
  expect(lines.filter((line) => line === 'npm ci && npm test')).toHaveLength(1)
})

test('every dependency has a documented reason', () => {
  const file = 'docs/decisions/0001-stack-and-dependencies.md'
  const { dependencies, devDependencies } = readPackage()
  const decision = section(file, 'Decision')
  const reasoned = (column: string) => table(decision, column).map((row) => (row.Reason ? row[column] : undefined))
  expect(reasoned('Dependency').sort()).toEqual(Object.keys(dependencies).sort())
  expect(reasoned('For the client').sort()).toEqual(Object.keys(readPackage('client').dependencies).sort())
  const forUs = [...reasoned('For the page, bundled at build'), ...reasoned('For development')]
  expect(forUs.sort()).toEqual(Object.keys(devDependencies).sort())
})

function leaves(parent = program): Command[] {
  return parent.commands.length === 0 ? [parent] : parent.commands.flatMap(leaves)
}

function fullName(command: Command): string {
  return command.parent?.parent ? `${command.parent.name()} ${command.name()}` : command.name()
}

function optionsOf(name: string): readonly Option[] {
  return leaves().find((command) => fullName(command) === name)!.options
}

function variableOf({ description }: Option): string | undefined {
  return /\(env: (\w+)\)$/.exec(description)?.[1]
}

function defaultOf({ defaultValue }: Option): string {
  const isNone = defaultValue === undefined || (Array.isArray(defaultValue) && defaultValue.length === 0)
  return isNone ? 'none' : String(defaultValue)
}

function labelsOf(metric: object): string {
  return 'labelNames' in metric ? (metric.labelNames as string[]).join(', ') : ''
}

function accepts(field: Field, value: unknown): boolean {
  try {
    field.read(value)
    return true
  } catch {
    return false
  }
}

/** Values at the limits that a table gives, on both sides. */
function samplesOf(takes: string): { inside: unknown[]; outside: unknown[] } {
  const [kind, rest = ''] = takes.split(/, (.*)/)
  const max = Number(rest.replace(/,/g, '').replace(/ at most$/, ''))
  const [low = 0, high = 0] = takes
    .replace(/^integer, |,/g, '')
    .split(' to ')
    .map(Number)
  switch (kind) {
    case 'id':
      return { inside: [1, Number.MAX_SAFE_INTEGER], outside: [0, 1.5, '1', Number.MAX_SAFE_INTEGER + 1] }
    case 'integer':
      return { inside: [low, high], outside: [low - 1, high + 1, String(low)] }
    case 'text':
    case 'path':
      return { inside: ['x', 'x'.repeat(max)], outside: ['x'.repeat(max + 1), 1] }
    case 'ids':
      return { inside: [[], Array(max).fill(1)], outside: [Array(max + 1).fill(1), [0], '1'] }
    case 'keys':
      return { inside: [[]], outside: [Array(max + 1).fill({}), [{}], {}] }
    case 'instant':
      return { inside: ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.9+01:00'], outside: ['2026-01-31', 0] }
    case 'boolean':
      return { inside: [true, false], outside: [1, 'true'] }
    case 'scopes':
      return { inside: [['lecture'], []], outside: [['autre'], 'lecture'] }
    case 'hash':
      return { inside: [], outside: ['', 'x', 1] }
    default:
      throw new Error(`docs/DUMP.md does not say what ${takes} is`)
  }
}

function leadsSomewhere(file: string, link: string): boolean {
  const [path = '', fragment] = link.split('#')
  const target = path === '' ? file : join(dirname(file), path)
  if (!existsSync(target)) return false
  return fragment === undefined || sections(target).some(({ title }) => anchor(title) === fragment)
}

function readPackage(folder = '.'): Record<'scripts' | 'dependencies' | 'devDependencies', Record<string, string>> {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
