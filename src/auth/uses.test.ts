import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ACCOUNT, addKey, startServer, type TestServer } from '../../test/harness.js'
import { PATIENCE } from '../../test/patience.js'
import { petitPortail } from '../../test/wire.js'

let server: TestServer
let keys: string[]

beforeEach(async () => {
  server = await startServer(petitPortail)
  keys = [server.key]
  while (keys.length < 20) keys.push(await addKey(server.store, ACCOUNT.login))
})

afterEach(() => server.close())

const useAll = () =>
  Promise.all(
    keys.map(async (key) => {
      const response = await server.anonymous('/challenges', { headers: { authorization: `Bearer ${key}` } })
      expect(response.status).toBe(200)
      await response.arrayBuffer()
    }),
  )

const countUsed = async () => {
  const sql = 'select count(derniere_utilisation) as nb from cles_api'
  const [row] = await server.store.read((db) => db.select<{ nb: number }>(sql))
  return row!.nb
}

test('the uses of many credentials are written in the background, in a few transactions', async () => {
  const write = vi.spyOn(server.store, 'write')
  await useAll()
  await vi.waitUntil(async () => (await countUsed()) === keys.length, PATIENCE)
  expect(write.mock.calls.length).toBeLessThan(keys.length / 2)
})

test('pending uses are written when the server closes, in one transaction', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  await useAll()
  vi.useRealTimers()
  expect(await countUsed()).toBe(0)
  const write = vi.spyOn(server.store, 'write')
  await server.app.close()
  expect([await countUsed(), write.mock.calls.length]).toEqual([keys.length, 1])
})

test('the use of a request that arrives while the server closes is written before the store closes', async () => {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname).setEncoding('latin1')
  socket.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket, 'data')
  const closing = server.app.close()
  socket.write(`GET /challenges HTTP/1.1\r\nHost: a\r\nCookie: api_key=${server.key}\r\n\r\n`)
  const [answer] = await once(socket, 'data')
  expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  await closing
  // Closing the store waits for pending writes first.
  await server.store.write({}, async () => undefined)
  expect(await countUsed()).toBe(1)
  socket.destroy()
})
