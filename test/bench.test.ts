import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { attempt, type Finding } from '../bench/findings.js'
import { generateLines, NEEDLES } from '../bench/generate.js'
import { countAnswers, drive, freshPaths, type Job } from '../bench/load.js'
import { readOptions } from '../bench/options.js'
import { READ_KINDS, type ReadKind } from '../bench/reads.js'
import { type EngineReport, hasFaults, toMarkdown } from '../bench/report.js'
import { Solves } from '../bench/solves.js'
import { makeGate } from './gate.js'

describe('the generator of the bench', () => {
  test('gives the same lines for the same size', () => {
    expect([...generateLines(1000)]).toEqual([...generateLines(1000)])
  })

  test('makes a portal of the requested size, with a median of four validations an author and many ties', () => {
    const authors = 5000
    const lines = [...generateLines(authors)].map((line) => JSON.parse(line))
    const count = (type: string) => lines.filter((line) => line.type === type).length
    expect([count('rubrique'), count('auteur'), count('challenge')]).toEqual([12, authors, 300])

    const points = new Map(
      lines.filter(({ type }) => type === 'challenge').map((line) => [line.id_challenge, line.score]),
    )
    const solved = new Array<number>(authors).fill(0)
    const scores = new Array<number>(authors).fill(0)
    const pairs = new Set<string>()
    for (const { id_auteur, id_challenge } of lines.filter(({ type }) => type === 'validation')) {
      solved[id_auteur - 1]!++
      scores[id_auteur - 1]! += points.get(id_challenge)
      pairs.add(`${id_auteur}/${id_challenge}`)
    }
    expect(pairs.size).toBe(count('validation'))
    expect(solved.sort((a, b) => a - b)[authors / 2]).toBe(4)
    expect(new Set(scores).size).toBeLessThan(authors / 20)
  })
})

describe('the workload of the bench', () => {
  const authors = 3000
  const lines = [...generateLines(authors)].map((line) => JSON.parse(line))
  const names: string[] = lines.filter(({ type }) => type === 'auteur').map(({ nom }) => nom)
  const shareOf = (part: string) => names.filter((nom) => nom.includes(part)).length / authors

  test('searches for parts of twenty, one in twenty, a third and none of the names', () => {
    expect(shareOf(NEEDLES.rare) * authors).toBe(20)
    expect(shareOf(NEEDLES.common)).toBeCloseTo(1 / 20, 2)
    expect(shareOf(NEEDLES.third)).toBeCloseTo(1 / 3, 2)
    expect(shareOf(NEEDLES.none)).toBe(0)
  })

  test('searches without a match use parts that many names have, some of them all', () => {
    const parts = Array.from({ length: NEEDLES.none.length - 2 }, (_, i) => NEEDLES.none.slice(i, i + 3))
    for (const part of parts) expect(shareOf(part)).toBeGreaterThan(0.2)
    const holdAll = names.filter((nom) => parts.every((part) => nom.includes(part)))
    expect(holdAll.length / authors).toBeCloseTo(1 / 10, 2)
  })

  test('never reads pages past the end', () => {
    const solves = lines.filter(({ type }) => type === 'validation')
    const rubriqueOf = new Map(
      lines.filter(({ type }) => type === 'challenge').map((c) => [c.id_challenge, c.id_rubrique]),
    )
    const count = (isThere: (solve: (typeof lines)[number]) => boolean) =>
      new Set(solves.filter((solve) => isThere(solve) && solve.id_auteur % 200 > 0).map((solve) => solve.id_auteur))
        .size
    const ends: Record<string, number> = {
      'flat-classement': authors - authors / 200,
      'flat-auteurs': authors,
      'flat-validations': count((solve) => solve.id_challenge === 1),
      'flat-rubrique': count((solve) => rubriqueOf.get(solve.id_challenge) === 2),
      'flat-annee': count((solve) => solve.date.startsWith('2023')),
      'flat-mois': count((solve) => solve.date.startsWith('2023-05')),
    }
    for (const [name, end] of Object.entries(ends)) {
      const max = READ_KINDS.find((kind) => kind.name === name)?.path(authors).max
      expect([name, max! < end && max! > end / 2]).toEqual([name, true])
    }
  })

  test('sends solves that the portal does not have, each once, by authors with a place', () => {
    const existing = new Set(
      lines.filter(({ type }) => type === 'validation').map((line) => `${line.id_auteur}/${line.id_challenge}`),
    )
    const solves = new Solves(authors).take(5000)
    const names = solves.map((solve) => `${solve.id_auteur}/${solve.id_challenge}`)
    expect(new Set(names).size).toBe(5000)
    expect(names.filter((name) => existing.has(name))).toEqual([])
    expect(solves.filter((solve) => solve.id_auteur % 200 === 0)).toEqual([])
  })

  test('imports, during reads, a portal in which one author in a hundred has changed', () => {
    const before = new Set(generateLines(authors))
    const changed = [...generateLines(authors, 1)].filter((line) => !before.has(line)).map((line) => JSON.parse(line))
    expect(changed.filter(({ type }) => type === 'auteur')).toHaveLength(authors / 100)
    expect(changed.filter(({ type }) => type === 'validation')).toHaveLength(authors / 100)
    expect(changed).toHaveLength((2 * authors) / 100)
  })
})

describe('the options of the bench', () => {
  test('select everything at one size by default, and at two small ones in a quick run', () => {
    const options = readOptions([])
    expect([options?.authors, options?.engines, options?.wants('fresh-auteur')]).toEqual([[10_000], ['sqlite'], true])
    expect(readOptions(['--quick'])?.authors).toEqual([2_000, 6_000])
  })

  test('accept names and prefixes of names', () => {
    const options = readOptions(['--only', 'flat-,memory'])
    const wanted = ['flat-auteur', 'memory', 'classement', 'search-rare'].map((name) => options?.wants(name))
    expect(wanted).toEqual([true, true, false, false])
  })

  test.each([
    [['--only', 'nothing-'], '--only takes'],
    [['--authors', '20000,1000'], 'ascending'],
    [['--engine', 'mysql'], '--engine takes sqlite, postgres'],
    [['--workers', '0'], '--workers takes'],
  ])('refuse %j', (args, reason) => {
    expect(() => readOptions(args)).toThrow(reason)
  })
})

describe('the load generator of the bench', () => {
  const big = Buffer.alloc(600_000, 'x')
  const empty = (response: ServerResponse) => response.writeHead(200, { 'content-length': 0 }).end()

  /** Drives a server until it has received 50 requests, and returns the result and the paths. */
  async function driven(answer: (response: ServerResponse, sent: number) => unknown, job: Partial<Job> = {}) {
    const asked: string[] = []
    const enough = makeGate()
    const server = await listen((request, response) => {
      answer(response, asked.length)
      if (asked.push(request.url as string) === 50) enough.open()
    })
    const result = await drive({ ...JOB, port: server.port, ...job }, enough.opened)
    server.close()
    return { result, asked }
  }

  test('counts every answer once, whatever its length', async () => {
    const lengths = [0, 2, 3_000, big.length]
    const { result, asked } = await driven((response, sent) => {
      const body = big.subarray(0, lengths[sent % lengths.length])
      response.writeHead(200, { 'content-length': body.length }).end(body)
    })
    expect(result.answered).toBe(asked.length)
    expect(result.answered).toBeGreaterThan(JOB.connections)
    expect(result.p99Milliseconds).toBeGreaterThanOrEqual(result.p50Milliseconds)
  })

  test('counts responses without a body', async () => {
    const { result, asked } = await driven((response) => response.writeHead(304).end(), { status: 304 })
    expect(result.answered).toBe(asked.length)
  })

  test('refuses to count responses with another status', async () => {
    const server = await listen((_request, response) => response.writeHead(429, { 'content-length': 0 }).end())
    await expect(drive({ ...JOB, port: server.port })).rejects.toThrow('429')
    server.close()
  })

  test('reads responses split anywhere', () => {
    const bytes = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'.repeat(3))
    for (let size = 1; size <= bytes.length; size++) {
      let answers = 0
      const read = countAnswers(200, () => answers++)
      for (let at = 0; at < bytes.length; at += size) {
        const piece = bytes.subarray(at, at + size)
        expect(read(piece, piece.length)).toBeUndefined()
      }
      expect(answers).toBe(3)
    }
  })

  test('stops when its time is over, or earlier when it is aborted', async () => {
    const { result } = await driven(empty)
    expect(result.answered).toBeGreaterThan(0)
    const server = await listen((_request, response) => empty(response))
    await drive({ ...JOB, port: server.port, warmSeconds: 0.05, seconds: 0.2 })
    server.close()
  })

  test('sends the paths of a mix in rotation', async () => {
    const { asked } = await driven(empty, { connections: 1, path: ['/a', '/b', '/c'] })
    expect(asked.slice(0, 6)).toEqual(['/a', '/b', '/c', '/a', '/b', '/c'])
  })

  test('never repeats a fresh path, and sends the same paths for the same seed', async () => {
    const path = { before: '/auteurs/', min: 1, max: 10, after: '?x=' }
    const { asked } = await driven(empty, { path, seed: 7 })
    const next = freshPaths(path, 7)
    expect(new Set(asked).size).toBe(asked.length)
    expect(new Set(asked)).toEqual(new Set(asked.map(() => next())))
  })

  const JOB: Omit<Job, 'port'> = {
    connections: 4,
    warmSeconds: 0,
    seconds: 3_600,
    path: '/classement',
    seed: 1,
    headers: { host: 'palmares.bench' },
    status: 200,
  }
})

describe('the report of the bench', () => {
  const measured = { requestsPerSecond: 1, p50Milliseconds: 1, p99Milliseconds: 1, loadBusy: 0 }
  const facts = { lines: 1, importLinesPerSecond: 1, exportLinesPerSecond: 1, diskBytes: 512e6 }
  const portal = {
    ...{ authors: 1000, comparisons: [], servingBytes: undefined },
    portal: { ...facts, importPeakBytes: undefined },
  }
  const engine: EngineReport = { engine: 'sqlite', workers: 1, portals: [portal], reads: [], findings: [] }
  const report = (...engines: EngineReport[]) => ({ machine: '', date: '', command: '', ceiling: measured, engines })
  const linesOf = (each: EngineReport) => toMarkdown(report(each)).split('\n')
  const cellsOf = (each: EngineReport, what: string) => {
    const rows = linesOf(each).filter((line) => line.startsWith(`| ${what} `))
    return rows.map((row) => row.split('|').map((cell) => cell.trim()))
  }

  test('shows the resources that a portal uses, as far as the system reports them', () => {
    expect(linesOf(engine)).toContain('## 1,000 authors, sqlite')
    expect(linesOf(engine)).toContain('Disk 512 MB.')
    const telling = { ...portal, servingBytes: 150e6, portal: { ...facts, importPeakBytes: 1_800e6 } }
    const lines = linesOf({ ...engine, workers: 2, portals: [telling] })
    expect(lines).toContain('## 1,000 authors, sqlite, 2 workers')
    expect(lines).toContain('Disk 512 MB, import peak 1,800 MB, serving 150 MB resident.')
  })

  test('compares each size of the portal with the smallest, and marks missed targets', () => {
    const kind = READ_KINDS.find(({ name }) => name === 'flat-classement') as ReadKind
    const at = (median: number) => ({ median, min: median, max: median })
    const small = { kind, authors: 1000, p50Milliseconds: 2, p99Milliseconds: 4 }
    const large = { ...small, authors: 100_000, p50Ratio: at(1.6), p99Ratio: at(2.9) }
    const [first, second] = cellsOf({ ...engine, reads: [small, large] }, kind.name)
    expect(first?.slice(2)).toEqual(['1,000', '2.00', '', '', '4.00', '', '', ''])
    expect(second?.slice(2)).toEqual([
      ...['100,000', '2.00', '1.60 (1.60–1.60)', '1.50 missed', '4.00', '2.90 (2.90–2.90)', '3.00', ''],
    ])
  })

  test('shows the unit of a finding, and whether its target is met', () => {
    const findings: Finding[] = [
      { what: 'import', value: 0.31, unit: 'ratio', least: 0.3, beside: '' },
      { what: 'visible', value: 51, unit: 'ms', most: 50, beside: '' },
      { what: 'memory', value: 300 * 1024 ** 2, unit: 'bytes', most: 384 * 1024 ** 2, beside: '' },
      { what: 'told', value: 2, unit: 's', beside: 'as it is' },
    ]
    const cells = findings.map(({ what }) => cellsOf({ ...engine, findings }, what)[0]?.slice(2, 5))
    expect(cells).toEqual([
      ['0.31', 'at least 0.30', ''],
      ['51.00 ms', 'at most 50.00 ms missed', ''],
      ['300 MiB', 'at most 384 MiB', ''],
      ['2.00 s', '', 'as it is'],
    ])
  })

  test('shows what could not be measured, and why', async () => {
    const findings = await attempt('solves', () => Promise.reject(new Error('the server is gone')))
    expect(hasFaults(report({ ...engine, findings }))).toBe(true)
    expect(hasFaults(report(engine))).toBe(false)
    expect(cellsOf({ ...engine, findings }, 'solves')[0]?.slice(2, 5)).toEqual([
      ...['', 'missed', 'not measured: the server is gone'],
    ])
  })
})

async function listen(listener: RequestListener): Promise<{ port: number; close(): void }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, close: () => server.close().closeAllConnections() }
}
