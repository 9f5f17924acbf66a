import { spawn, spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lineOf } from '../../src/cli/progress.js'
import { portail, randomPortal } from '../fixtures.js'
import { passOn, startFront } from '../front.js'
import { engines, makeFolder, makePlace, startServer } from '../harness.js'
import { MAIN, palmares } from '../palmares.js'

/** The stages of an import on every engine. A large one on SQLite also copies and fills tables. */
const COMMON = ['reading', 'checking duplicates', 'merging', 'checking references', 'deriving scores and counts']
const STAGES = [...COMMON, 'building orders', 'committing']
const ASIDE = [
  ...['reading', 'checking duplicates', 'copying the portal', 'merging', 'checking references'],
  ...['deriving scores and counts', 'building orders', 'writing tables', 'committing'],
]
const CHECKED = [
  'file, indexes and references',
  'scores and ranking keys',
  'rankings by category and period',
  'counts of validations and challenges',
  'places and pages',
  'search',
  'groups',
  'settings',
  'frozen validations',
].map((what) => `checking ${what}`)

let folder: string
let dump: string
beforeAll(() => {
  folder = makeFolder()
  dump = join(folder, 'dump.ndjson')
  // The descriptions make it large enough for SQLite to copy and fill tables.
  const descriptif = 'x'.repeat(100_000)
  const lines = randomPortal({ seed: 3, auteurs: 300, challenges: 110, validations: 2_000, scores: 50 })
  const long = lines.map((line) => (line.type === 'challenge' ? { ...line, descriptif } : line))
  writeFileSync(dump, long.map((line) => `${JSON.stringify(line)}\n`).join(''))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Frame {
  stage: string
  percent: number | undefined
}

/** A line of progress, plain or drawn. */
function frameOf(line: string): Frame {
  const percent = /(\d+) %/.exec(line)?.[1]
  const [stage = ''] = line.split(/:| [█░]| +\d+ %/)
  return { stage: stage.trim(), percent: percent === undefined ? undefined : Number(percent) }
}

/** Each stage once, in order of first appearance. */
const stagesOf = (frames: readonly Frame[]) => [...new Set(frames.map(({ stage }) => stage))]

function expectMonotone(frames: readonly Frame[]): void {
  const percents = frames.flatMap(({ percent }) => (percent === undefined ? [] : [percent]))
  expect(percents.length).toBeGreaterThan(0)
  expect(percents).toEqual(percents.toSorted((a, b) => a - b))
  expect(percents.at(-1)).toBeLessThan(100)
}

/** Runs the program in a pseudo-terminal of this width, and returns the drawn lines. */
async function inTerminal(columns: number, args: readonly string[], before = ''): Promise<string[]> {
  const words = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ')
  const env = { ...process.env, PALMARES_MIRROR_KEY: key, SHELL: '/bin/bash' }
  const command = `stty cols ${columns} rows 24; ${before} ${words}`
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: folder, env })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  child.stdin.end()
  const status = await new Promise((resolve) => child.on('close', resolve))
  expect(status).toBe(0)
  return [...text.matchAll(/\r\x1b\[\?7l([^\x1b]*)\x1b\[K\x1b\[\?7h/g)].map(([, line]) => line as string)
}

let key = ''

describe.each(engines)('on %s', (engine) => {
  test('an import and a check print each stage once in plain lines, and the percentage never decreases or ends early', async () => {
    const { url, remove } = await makePlace(engine)
    for (const [args, stages] of [
      [['import', dump], engine === 'sqlite' ? ASIDE : STAGES],
      [['check'], CHECKED],
      [
        ['check', '--repair'],
        ['deriving scores and counts', 'building orders', 'building the search index', ...CHECKED],
      ],
    ] as const) {
      const began = performance.now()
      const { status, stderr } = await palmares([...args, '--database', url], { cwd: folder })
      const lines = stderr.split('\n').slice(0, -1)
      const frames = lines.map(frameOf)
      expect([status, stagesOf(frames)]).toEqual([0, stages])
      // A stage prints another line only every 5 s.
      expect(frames.length - stages.length).toBeLessThanOrEqual((performance.now() - began) / 5_000)
      expectMonotone(frames)
    }
    await remove()
  })
})

/** The `script` of util-linux runs a program in a pseudo-terminal. */
const hasTerminal = String(spawnSync('script', ['--version']).stdout).includes('util-linux')
if (!hasTerminal) console.warn('skipped: no `script` of util-linux, so there is no terminal to draw on')

describe.skipIf(!hasTerminal)('on a terminal', () => {
  test.each([40, 100])('with %i columns an import draws each stage in one line that fits', async (columns) => {
    const database = `sqlite:${join(folder, `terminal-${columns}.db`)}`
    const drawn = await inTerminal(columns, ['import', dump, '--database', database])
    expect(drawn.at(-1)).toBe('')
    const lines = drawn.slice(0, -1)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(columns)
    const frames = lines.map(frameOf)
    expect(stagesOf(frames)).toEqual(ASIDE)
    expectMonotone(frames)
    expect(lines.every((line) => /[█░]/.test(line))).toBe(true)
  })

  test('lines fit, with the remaining time, when the terminal is narrowed while a mirror runs', async () => {
    const origin = await startServer(portail, { logLevel: 'silent' })
    key = origin.key
    const front = await startFront(passOn(origin.url))
    const [asked, resized] = [join(folder, 'asked'), join(folder, 'resized')]
    front.fault = async ({ path }, usual) => {
      if (path === '/auteurs/2') {
        writeFileSync(asked, '')
        while (!existsSync(resized)) await sleep(20)
      }
      return usual()
    }
    const narrow = `(until test -e ${asked}; do sleep 0.05; done; stty cols 46 < /dev/tty; sleep 0.3; touch ${resized}) &`
    const args = [
      'mirror',
      front.url,
      '--database',
      `sqlite:${join(folder, 'narrow.db')}`,
      '--requests-per-second',
      '9',
    ]
    const drawn = await inTerminal(120, args, narrow)
    const isWide = (line: string) => line.length >= 46
    const last = drawn.findLastIndex(isWide)
    expect(drawn[last]).toMatch(
      /^reading (challenges|auteurs) █*░+ +\d+ % · \d+ of \d+ records · about \d+ (s|min) left · \d+ s$/,
    )
    const after = drawn.slice(last + 1, -1)
    expect(stagesOf(after.map(frameOf))).toEqual([
      'reading auteurs',
      'reading environnements_virtuels',
      'writing the copy',
    ])
    expect(after[0]).toMatch(/ \d+ % · about \d+ (s|min) left/)
    expectMonotone(drawn.slice(0, -1).map(frameOf))
    await front.close()
    await origin.close()
  })
})

test.each([40, 46, 60, 80, 100, 200])('any line fits %i columns and has its stage and percentage', (columns) => {
  for (const stage of ['merging', 'reading environnements_virtuels', 'x'.repeat(300)]) {
    for (const count of [undefined, '123456789 of 987654321 records']) {
      for (const rest of [undefined, 'about 12 min left']) {
        const line = lineOf({ stage, count, rest, percent: 7 }, 3_600, columns)
        expect(line.length).toBeLessThan(columns)
        expect(line.startsWith(stage.slice(0, 30))).toBe(true)
        expect(line).toContain('7 %')
      }
    }
  }
})
