import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ACCOUNT, addAccount, addKey, engines, exportFrom, makeStore, serveStore, startServer } from '../harness.js'
import { mirrorInto } from '../mirroring.js'

const file = new URL('../../../shared/data/portail.ndjson', import.meta.url)
const isThere = existsSync(file)
if (!isThere) console.warn('skipped: ../shared/data/portail.ndjson is not beside the repository')

test.skipIf(!isThere).each(engines)(
  'a mirror of a mirror of a real portal on %s exports the same dump',
  async (engine) => {
    const origin = await startServer(readFileSync(file, 'utf8'), { logLevel: 'silent' })
    const expected = await exportFrom(origin.store)
    const account = { ...ACCOUNT, idAuteur: Number(expected.find(({ type }) => type === 'auteur')?.id_auteur) }
    await addAccount(origin.store, account)
    const key = await addKey(origin.store, account.login)
    const first = await makeStore(engine)
    const report = await mirrorInto(first.store, origin.url, { key })
    expect(report.tallies.map(({ type, added }) => [type, added])).toEqual(
      expect.arrayContaining([
        ['rubrique', 16],
        ['auteur', 2893],
        ['challenge', 565],
        ['environnement_virtuel', 13],
      ]),
    )
    expect(await exportFrom(first.store)).toEqual(expected)

    if (engine === 'sqlite') {
      const again = await mirrorInto(first.store, origin.url, { key })
      expect(again.tallies).toEqual([])
      expect(again.requests.unchanged).toBe(again.requests.requests)

      await addAccount(first.store, account)
      const { app, url } = await serveStore(first.store, { logLevel: 'silent' })
      const second = await makeStore(engine)
      await mirrorInto(second.store, url, { key: await addKey(first.store, account.login), connections: 4 })
      expect(await exportFrom(second.store)).toEqual(expected)
      await app.close()
      await second.close()
    }
    await first.close()
    await origin.close()
  },
)
