import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { generateLines } from '../bench/generate.js'
import { countAnswers, drive, freshPaths, type Job } from '../bench/load.js'
import { toMarkdown } from '../bench/report.js'

describe('the generator of the bench', () => {
  test('gives the same lines for the same size', () => {
    expect([...generateLines(1000)]).toEqual([...generateLines(1000)])
  })

  test('makes a portal of the size asked for, with four validations an author at the median and heavy ties', () => {
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

describe('the load generator of the bench', () => {
  const big = Buffer.alloc(600_000, 'x')

  test('counts every answer once, whatever its length', async () => {
    let sent = 0
    const lengths = [0, 2, 3_000, big.length]
    const server = await listen((_request, response) => {
      const body = big.subarray(0, lengths[sent++ % lengths.length])
      response.writeHead(200, { 'content-length': body.length }).end(body)
    })
    const result = await drive({ ...JOB, port: server.port })
    expect(result.answered).toBe(sent)
    expect(result.answered).toBeGreaterThan(JOB.connections)
    expect(result.p99Milliseconds).toBeGreaterThanOrEqual(result.p50Milliseconds)
    server.close()
  })

  test('counts answers that have no body', async () => {
    let sent = 0
    const server = await listen((_request, response) => {
      sent++
      response.writeHead(304).end()
    })
    const result = await drive({ ...JOB, port: server.port, status: 304 })
    expect(result.answered).toBe(sent)
    server.close()
  })

  test('refuses to count an answer of another status', async () => {
    const server = await listen((_request, response) => response.writeHead(429, { 'content-length': 0 }).end())
    await expect(drive({ ...JOB, port: server.port })).rejects.toThrow('429')
    server.close()
  })

  test('reads answers that are cut anywhere', () => {
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

  test('never repeats a fresh path, and sends the same ones for the same seed', async () => {
    const asked: string[] = []
    const server = await listen((request, response) => {
      asked.push(request.url as string)
      response.writeHead(200, { 'content-length': 0 }).end()
    })
    const path = { before: '/auteurs/', min: 1, max: 10, after: '?x=' }
    await drive({ ...JOB, port: server.port, path, seed: 7 })
    const next = freshPaths(path, 7)
    expect(new Set(asked).size).toBe(asked.length)
    expect(new Set(asked)).toEqual(new Set(asked.map(() => next())))
    server.close()
  })

  const JOB: Omit<Job, 'port'> = {
    connections: 4,
    warmSeconds: 0.05,
    seconds: 0.2,
    path: '/classement',
    seed: 1,
    headers: { host: 'palmares.bench' },
    status: 200,
  }
})

describe('the report of the bench', () => {
  test('says what a portal takes, as far as the system tells it', () => {
    const measured = { requestsPerSecond: 1, p50Milliseconds: 1, p99Milliseconds: 1, loadBusy: 0 }
    const facts = { lines: 1, importLinesPerSecond: 1, exportLinesPerSecond: 1, diskBytes: 512e6 }
    const silent = {
      ...{ engine: 'sqlite', authors: 1000, workers: 1, comparisons: [], servingBytes: undefined },
      portal: { ...facts, importPeakBytes: undefined },
    }
    const telling = { ...silent, workers: 2, servingBytes: 150e6, portal: { ...facts, importPeakBytes: 1_800e6 } }
    const lines = toMarkdown({
      ...{ machine: '', date: '', command: '', ceiling: measured },
      portals: [silent, telling],
    }).split('\n')
    expect(lines).toContain('## 1,000 authors, sqlite')
    expect(lines).toContain('Disk 512 MB.')
    expect(lines).toContain('## 1,000 authors, sqlite, 2 workers')
    expect(lines).toContain('Disk 512 MB, import peak 1,800 MB, serving 150 MB resident.')
  })
})

async function listen(listener: RequestListener): Promise<{ port: number; close(): void }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, close: () => server.close().closeAllConnections() }
}
