import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.js'
import { makeFolder } from '../harness.js'
import { type Running, startPalmares } from '../palmares.js'
import { exchange } from '../wire.js'

/** The longest queue of a socket that the kernel allows, if known. */
function kernelBound(): number | undefined {
  try {
    return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'))
  } catch {
    return undefined
  }
}

/** Shows the queues of listening sockets, on Linux. */
const SS = 'ss'
const hasSs = spawnSync(SS, ['-V']).status === 0

/** The number of files that a process may open, minus those that the test or the server needs for other things. */
function connectionsAtMost(): number {
  const files = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' })) || 10_000
  return Math.max(100, files - 200)
}

describe.each([1, 2])('%i serving process(es)', (workers) => {
  let folder: string
  let running: Running | undefined
  afterEach(async () => {
    await running?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const start = async () => {
    folder = makeFolder()
    const database = `sqlite:${join(folder, 'portal.db')}`
    await (await openStore(database, { create: true })).close()
    const options = ['--database', database, '--workers', String(workers), '--metrics-port', '0']
    running = await startPalmares(['serve', ...options], { cwd: folder })
    return running.url
  }

  // Skipped on a machine without `ss`, because no file of /proc has the length of a queue.
  test.runIf(hasSs)('request the longest queue that the kernel allows', async () => {
    const url = await start()
    const sockets = execFileSync(SS, ['-Hltn', `sport = :${new URL(url).port}`], { encoding: 'utf8' })
    const queue = Number(sockets.trim().split(/\s+/)[2])
    expect(queue).toBe(Math.min(10_000, kernelBound() ?? 10_000))
  })

  test('answer a burst of 2,000 connections', async () => {
    const url = await start()
    const ask = 'GET /health/live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
    const burst = Math.min(2_000, connectionsAtMost())
    const answers = await Promise.all(Array.from({ length: burst }, () => exchange(url, ask)))
    expect(answers.filter((text) => !text.startsWith('HTTP/1.1 200 '))).toEqual([])
  })
})
