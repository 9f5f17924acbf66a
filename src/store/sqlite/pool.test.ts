import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { makeStore } from '../../../test/harness.js'

test('a store that closes finishes its reads in flight, refuses new ones, and does not block the event loop', async () => {
  const { store, close } = await makeStore()
  let finish = (): void => undefined
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const reads = Array.from({ length: 10 }, () =>
    store.read(async (db) => {
      await finished
      return db.select('select id from etat')
    }),
  )
  const closing = close()
  await nextTurn()
  await expect(store.read(async () => undefined)).rejects.toMatchObject({ fault: 'unreachable' })
  finish()
  expect(await Promise.all(reads)).toEqual(reads.map(() => [{ id: 1 }]))
  await closing
})
