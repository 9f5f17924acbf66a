import { expect, test } from 'vitest'
import { type ToSibling, VersionRelay } from './siblings.js'

test('a heartbeat read after its worker has ended grants no lease, so no write waits for that worker', () => {
  const [writer, ended] = [{ id: 1 }, { id: 2 }]
  const sent: [object, ToSibling][] = []
  const relay = new VersionRelay<object>((worker, message) => sent.push([worker, message]))
  const beat = { kind: 'versions', step: 'beat', sentAt: 0 } as const
  for (const worker of [writer, ended]) relay.heard(worker, beat)
  relay.ended(ended)
  relay.heard(ended, beat)
  sent.length = 0
  relay.heard(writer, { kind: 'versions', step: 'committed', commit: 7, versions: { donnees: 1, comptes: 1 } })
  expect(sent).toEqual([[writer, { kind: 'versions', step: 'known', commit: 7 }]])
})
