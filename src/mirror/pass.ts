import { hash } from 'node:crypto'
import { hasChanged, type Tally } from '../portal/merge.js'
import { type Batch, makeBatch } from './batch.js'
import type { MirrorOptions, Pass } from './context.js'
import { contractSource } from './contract-source.js'
import { findKnown, findLogins, findUnusedRubriques } from './copy.js'
import { readDetails } from './details.js'
import { dialectOf, PROBE_PATH } from './detect.js'
import { dialectSource } from './dialect-source.js'
import { MirrorError } from './errors.js'
import { makeFaults } from './faults.js'
import { hasRows, readRubriques, refuseEmpty, walkList } from './lists.js'
import { tagOf } from './shape.js'
import type { Dialect, Listed, Noun, Source } from './source.js'
import { beginPass, claim, endPass, lookUp, release, rememberDialect } from './state.js'
import { keptFor } from './take.js'
import type { RequestCounts } from './transport.js'

export interface PassReport {
  /** What changed, by kind of record; kinds without changes are left out. */
  tallies: Tally[]
  requests: RequestCounts
  /** Whether it resumed an interrupted pass. */
  isResumed: boolean
  /** Whether it was asked to stop before its end. */
  isStopped: boolean
  /** Records that could not be read, each reported as a warning; the next pass requests them again. */
  faults: number
}

/**
 * Updates the copy from the portal, in whole batches. Throws `MirrorError` or `StoreError`; completed batches are kept, and the
 * next pass resumes from there.
 */
export async function mirrorPass(options: MirrorOptions): Promise<PassReport> {
  const { store, transport, clock, signal, portalUrl, authors } = options
  const followed = authors && new Set(authors)
  const reglage = hash(
    'sha256',
    JSON.stringify([portalUrl, followed ? [...followed].sort((a, b) => a - b) : 'all']),
    'hex',
  )
  const before = transport.counts
  // The previous pass may have released the claim.
  await claim(store, `${transport.base}/`)
  const { passe, dialecte, isResumed, maker } = await beginPass(store, reglage, Math.floor(clock.now() / 1_000))
  const batch = makeBatch({ store, clock, maker, onWarning: options.onWarning })
  const touched = { added: new Set<number>(), changed: new Set<number>(), hasNewScore: false }
  const faults = makeFaults(options.onWarning)
  let isStopped = false
  let isSettled = dialecte !== null
  const settle = async ({ dialect }: Source) => {
    if (!isSettled) await rememberDialect(store, dialect)
    isSettled = true
  }
  try {
    const source = await openSource(options, batch, passe, dialecte)
    const known = await store.read(findKnown)
    const found = { known, touched, faults, unlisted: new Map() }
    await run({ ...options, ...found, source, passe, batch, reglage, followed, emptyLists: [] }, settle)
    await endPass(store, { passe, maker })
  } catch (error) {
    isStopped = signal.aborted && error === signal.reason
    // Without a record of a portal nothing is kept, not even the claim.
    if (!isSettled) await release(store, maker)
    else if (isStopped || error instanceof MirrorError) {
      // Complete answers are kept anyway. If writing them is what failed, this fails in the same way.
      await batch.flush()
    }
    if (!isStopped) throw error
  }
  const requests = since(before, transport.counts)
  return { tallies: talliesOf(batch, touched), requests, isResumed, isStopped, faults: faults.count }
}

async function run(pass: Pass, settle: (source: Source) => Promise<void>): Promise<void> {
  const { store, source, batch, known, followed, faults } = pass
  const rubriques = await readRubriques(pass)
  let isPortal = rubriques !== undefined && rubriques.size > 0
  const listed = new Map<Noun, Listed[]>()
  for (const noun of source.nouns) {
    const isFollowed = noun === 'auteurs' && followed
    const rows = isFollowed ? [...followed].map((id) => ({ id, note: '' })) : await walkList(pass, noun)
    listed.set(noun, rows)
    isPortal ||= rows.length > 0 && !isFollowed
    if (isPortal) await settle(source)
  }
  if (!isPortal && !(followed && (await hasRows(pass, 'auteurs')))) refuseEmpty(pass)
  await settle(source)
  if (followed) await removeUnfollowed(pass, followed)
  // Requests every record of the copy that is in no list. A record is removed only when its own address answers 404, because
  // lists change while they are read.
  for (const [noun, rows] of listed) listed.set(noun, [...rows, ...unnamed(known[noun].keys(), rows)])
  await readDetails(pass, listed)
  pass.onProgress('writing the copy', 0, undefined, 1)
  await batch.flush()
  if (faults.count > 0) return
  const unused = (await store.read(findUnusedRubriques)).filter((id) => !rubriques?.has(id))
  if (unused.length > 0) {
    const path = source.rubriques?.path ?? '/challenges'
    const lines = unused.map((id_rubrique) => ({ type: 'rubrique', id_rubrique, supprime: true }))
    batch.put(lines, path)
  }
  await batch.flush()
}

/** Requests the ranking, which shows the portal's dialect. Throws `MirrorError` if that is not the one of earlier passes. */
async function openSource(
  { store, transport, portalUrl }: MirrorOptions,
  batch: Batch,
  passe: number,
  before: Dialect | null,
): Promise<Source> {
  const sources = { contract: contractSource, dialect: dialectSource }
  const held = (await lookUp(store, [PROBE_PATH])).get(PROBE_PATH)
  if (before && held?.passe === passe) return sources[before](portalUrl)
  const answer = await transport.get(PROBE_PATH, before && held?.etag)
  const dialect = before && held?.etag && answer.status === 304 ? before : dialectOf(answer)
  if (before && dialect !== before) {
    throw new MirrorError(
      `${PROBE_PATH}: ${transport.base} spoke the ${before} and speaks the ${dialect} now; make a new copy of it with another --database`,
    )
  }
  const etag = answer.status === 304 ? (held?.etag ?? null) : tagOf(answer)
  batch.answered({ chemin: PROBE_PATH, etag, passe, lecture: '', contenu: null })
  return sources[dialect](portalUrl)
}

async function removeUnfollowed(
  { store, batch, known, onWarning }: Pass,
  followed: ReadonlySet<number>,
): Promise<void> {
  const logins = await store.read((db) => findLogins(db))
  for (const id_auteur of known.auteurs) {
    if (followed.has(id_auteur)) continue
    const login = logins.get(id_auteur)
    if (login !== undefined) {
      onWarning(`--authors does not name author ${id_auteur}; ${keptFor(login)}`)
      continue
    }
    known.auteurs.delete(id_auteur)
    batch.put([{ type: 'auteur', id_auteur, supprime: true }], '--authors')
    batch.gone(`/auteurs/${id_auteur}`)
  }
}

function unnamed(ids: Iterable<number>, listed: readonly Listed[]): Listed[] {
  const named = new Set(listed.map(({ id }) => id))
  return [...ids].filter((id) => !named.has(id)).map((id) => ({ id, note: '' }))
}

/** The import's own count misses authors whose total changed, because the total is not a field of the author. */
function talliesOf({ tallies }: Batch, { added, changed }: Pass['touched']): Tally[] {
  const nbOld = [...changed].filter((id) => !added.has(id)).length
  const auteur = tallies.get('auteur')
  return [...tallies.values()]
    .map((tally) => (tally === auteur ? { ...tally, changed: nbOld } : tally))
    .filter((tally) => hasChanged([tally]))
}

function since(before: RequestCounts, now: RequestCounts): RequestCounts {
  return {
    requests: now.requests - before.requests,
    unchanged: now.unchanged - before.unchanged,
    waitedMilliseconds: now.waitedMilliseconds - before.waitedMilliseconds,
  }
}
