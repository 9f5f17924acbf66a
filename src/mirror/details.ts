import type { Pass } from './context.js'
import { readingsOf } from './copy.js'
import { MirrorError } from './errors.js'
import { isUnchanged } from './lists.js'
import { bodyOf, jsonIn, tagOf } from './shape.js'
import type { Listed, Noun } from './source.js'
import { lookUp, type Resource } from './state.js'
import { removeRecord, takeAuteur, takeChallenge, takePlain } from './take.js'

/** Records per lookup of their state. */
const CHUNK_RECORDS = 500

/** Reads every listed record, except those that this pass has seen; challenges first, because authors refer to them. */
export async function readDetails(pass: Pass, listed: ReadonlyMap<Noun, Listed[]>): Promise<void> {
  const { store, batch, connections, touched, passe, faults, unlisted } = pass
  const estimate = makeEstimate(pass, listed)
  for (const [noun, records] of listed) {
    for (let from = 0; from < records.length; from += CHUNK_RECORDS) {
      const chunk = records.slice(from, from + CHUNK_RECORDS)
      const held = await lookUp(
        store,
        chunk.map(({ id }) => pathOf(noun, id)),
      )
      const ids = chunk.map(({ id }) => id)
      const readings = await store.read((db) => readingsOf(db, noun, ids))
      await inTurns(chunk, connections, async (record) => {
        const resource = held.get(pathOf(noun, record.id))
        if (resource?.passe !== passe) {
          const reading = readings.get(record.id) ?? '0'
          const isRead = await faults.tolerate(() => readDetail(pass, noun, record, resource, reading))
          if (!isRead && noun === 'challenges') unlisted.set(record.id, Promise.resolve())
        }
        estimate.advance(noun)
        await batch.flushIfDue()
      })
    }
    // Points of authors change with the scores, and `readingsOf` decides by them which authors to read again.
    if (noun === 'challenges' && touched.hasNewScore) await batch.flush()
  }
}

function pathOf(noun: Noun, id: number): string {
  return `/${noun}/${id}`
}

async function readDetail(
  pass: Pass,
  noun: Noun,
  listed: Listed,
  held: Resource | undefined,
  reading: string,
): Promise<void> {
  const { source, transport, batch, known, passe } = pass
  const chemin = pathOf(noun, listed.id)
  const isHeld = known[noun].has(listed.id) && held?.lecture === lectureOf(pass, noun, listed, reading)
  const answer = await transport.get(chemin, isHeld ? held.etag : undefined)
  if (isHeld && isUnchanged(answer, held)) return batch.answered({ ...held, passe })
  if (answer.status === 404 && source.isNothing(jsonIn(answer))) return removeRecord(pass, noun, listed.id, chemin)
  const at = { base: transport.base, path: chemin }
  const body = bodyOf(answer)
  const remember = (taken: string | undefined) => {
    const etag = taken === undefined ? null : tagOf(answer)
    batch.answered({ chemin, etag, passe, lecture: lectureOf(pass, noun, listed, taken ?? ''), contenu: null })
  }
  if (noun === 'challenges')
    return remember(takeChallenge(pass, listed.id, source.readChallenge(listed, at, body), chemin))
  if (noun !== 'auteurs') {
    return remember(takePlain(pass, noun, listed.id, source.readPlain(noun, listed.id, at, body), chemin))
  }
  const read = source.readAuteur(listed.id, at, body)
  for (const { id_challenge } of read.validations) await readIfNew(pass, id_challenge, chemin)
  remember(await takeAuteur(pass, listed.id, read, chemin))
}

/**
 * What must be the same for an answer to be current: the derived values, the note of the list, and for challenges the options.
 */
function lectureOf({ reglage }: Pass, noun: Noun, { note }: Listed, reading: string): string {
  return noun === 'challenges' ? `${reading} ${reglage.slice(0, 16)} ${note}` : reading
}

/**
 * New challenges that solves may refer to. Each is read at once. If one does not exist or cannot be read, its solves are left
 * out until it can.
 */
const MAX_NEW_CHALLENGES = 10_000

async function readIfNew(pass: Pass, id: number, path: string): Promise<void> {
  const { known, unlisted, faults } = pass
  if (known.challenges.has(id)) return
  // Another connection may already be reading it.
  const underWay = unlisted.get(id)
  if (underWay) return void (await underWay)
  if (unlisted.size >= MAX_NEW_CHALLENGES) {
    throw new MirrorError(`${path}: solves refer to more than ${MAX_NEW_CHALLENGES} challenges that are in no list`)
  }
  const asking = faults.tolerate(() => readDetail(pass, 'challenges', { id, note: '' }, undefined, '0'))
  unlisted.set(id, asking)
  await asking
}

/** Processes items in order, a number of them at once. */
async function inTurns<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values()
  let isBroken = false
  const worker = async () => {
    for (const item of rest) {
      if (isBroken) return
      await work(item).catch((error) => {
        isBroken = true
        throw error
      })
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, worker))
  for (const each of ended) if (each.status === 'rejected') throw each.reason
}

/** Shows how much is done, and estimates the rest from the pace of the requests so far. */
function makeEstimate({ clock, transport, onProgress }: Pass, listed: ReadonlyMap<Noun, Listed[]>) {
  const begun = { at: clock.now(), requests: transport.counts.requests }
  const done = new Map<Noun, number>()
  const all = [...listed.values()].reduce((sum, records) => sum + records.length, 0)
  let left = all
  return {
    advance(noun: Noun) {
      const nbDone = (done.get(noun) ?? 0) + 1
      done.set(noun, nbDone)
      left--
      const sent = transport.counts.requests - begun.requests
      const secondsLeft = sent === 0 ? undefined : ((clock.now() - begun.at) / 1_000 / sent) * left
      const part = (all - left) / all
      onProgress(`reading ${noun}`, nbDone, (listed.get(noun) as Listed[]).length, part, secondsLeft)
    },
  }
}
