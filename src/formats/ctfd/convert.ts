import { formatInstant } from '../../instant.js'
import { Faults } from '../../portal/faults.js'
import { attempt, throwIfAny } from '../faults.js'
import { Notes } from '../notes.js'
import { type AuteurRecord, type Converted, type DumpRecord, toAuteur } from '../records.js'
import { stableIds } from '../stable-ids.js'
import { later } from '../values.js'
import { type Archive, fileOf, openArchive } from './archive.js'
import { toHtml } from './markdown.js'
import type { Contest, Solve } from './model.js'
import { readContest } from './read.js'

export interface CtfdOptions {
  /** Whether nothing counts that came at the freeze of the export or after it. */
  freeze: boolean
  /** Called now and then with the records read so far, and the part of the file that they are, from 0 to 1. */
  onProgress?: ((records: number, part: number) => void) | undefined
}

/** Reads an export of CTFd, whole, before anything is changed. Throws `ImportError` with what is wrong and where. */
export async function convertCtfd(path: string, { freeze, onProgress }: CtfdOptions): Promise<Converted> {
  const archive = await openArchive(path)
  const found = { faults: new Faults(), leftOut: new Notes(), warnings: new Notes() }
  const source = { ...found, archive, onProgress: progressOf(archive, onProgress) }
  const contest = await readContest(source, freeze).finally(archive.close)
  const { faults, leftOut, warnings } = found
  const solves = firstSolves(contest.solves, warnings)
  const shown = {
    auteurs: toAuteurs(contest, solves, warnings, faults),
    ...toChallenges(contest, warnings, faults),
  }
  throwIfAny(faults)
  return {
    records: records(shown, solves),
    nbAuteurs: shown.auteurs.length,
    leftOut: leftOut.lines(),
    warnings: warnings.lines(),
  }
}

const ACCOUNT_TABLES = ['brackets', 'users', 'teams']
const TABLES = ['config', ...ACCOUNT_TABLES, 'challenges', 'dynamic_challenge', 'solves', 'submissions', 'awards']

function progressOf(archive: Archive, onProgress: CtfdOptions['onProgress']) {
  const total = TABLES.reduce((sum, table) => sum + archive.bytesOf(table), 1)
  let [records, bytes] = [0, 0]
  return (newRecords: number, newBytes: number) => {
    records += newRecords
    bytes += newBytes
    onProgress?.(records, bytes / total)
  }
}

/** One solve of each account and challenge: the earliest; one of unknown date is the last of all. */
function firstSolves(solves: ReadonlyMap<number, Solve>, warnings: Notes): Solve[] {
  const first = new Map<string, Solve>()
  for (const [id, solve] of solves) {
    const key = `${solve.account} ${solve.challenge}`
    const before = first.get(key)
    if (before) warnings.add('solve(s) of the same account and challenge; the earliest of them counts, once', id)
    if (!before || (solve.date ?? Infinity) < (before.date ?? Infinity)) first.set(key, solve)
  }
  return [...first.values()]
}

/**
 * The score is what the solved challenges are worth now, and the awards. Its base is what no challenge here is worth: awards,
 * and challenges below 0.
 */
function toAuteurs(contest: Contest, solves: readonly Solve[], warnings: Notes, faults: Faults): AuteurRecord[] {
  const totals = new Map<number, { score: number; reached: number | null }>()
  const totalOf = (account: number) => totals.get(account) ?? { score: 0, reached: null }
  for (const { account, challenge, date = null } of solves) {
    const { score, reached } = totalOf(account)
    const { value } = contest.challenges.get(challenge)!
    totals.set(account, { score: score + value, reached: value < 0 ? later(reached, date) : reached })
  }
  for (const [account, { value, date }] of contest.awards) {
    const { score, reached } = totalOf(account)
    totals.set(account, { score: score + value, reached: later(reached, date) })
  }
  const auteurs: AuteurRecord[] = []
  for (const [id_auteur, { name, groupe, isShown }] of contest.accounts) {
    if (!isShown) continue
    const { score, reached } = totalOf(id_auteur)
    if (score < 0) warnings.add(`${contest.account}(s) with a score below 0 have 0`, id_auteur)
    if (!Number.isSafeInteger(score))
      faults.add(`${fileOf(`${contest.account}s`)}: id ${id_auteur}`, 'has too many points')
    auteurs.push(toAuteur(id_auteur, name, score, { groupe, reached }))
  }
  return auteurs
}

interface Shown {
  auteurs: AuteurRecord[]
  rubriques: DumpRecord[]
  challenges: DumpRecord[]
}

function toChallenges({ challenges }: Contest, warnings: Notes, faults: Faults): Omit<Shown, 'auteurs'> {
  const shown: DumpRecord[] = []
  const rubriques = new Map<string, DumpRecord & { type: 'rubrique' }>()
  const idOf = stableIds()
  for (const [id_challenge, { name, category, description, value, isShown }] of challenges) {
    if (!isShown) continue
    attempt(faults, `${fileOf('challenges')}: category of id ${id_challenge}`, () => {
      if (!rubriques.has(category))
        rubriques.set(category, { type: 'rubrique', id_rubrique: idOf(category), nom: category })
    })
    const { html, kept } = toHtml(description)
    if (kept === 'plain')
      warnings.add(
        'description(s) too long or too intricate for Markdown are kept as plain text; challenge',
        id_challenge,
      )
    if (kept === 'out') warnings.add('description(s) too long to be kept are left out; challenge', id_challenge)
    if (value < 0)
      warnings.add(
        'challenge(s) worth less than 0 are shown as worth 0; scores count what they are worth',
        id_challenge,
      )
    if (name.trim() === '') warnings.add('challenge(s) without a name are called challenge-ID', id_challenge)
    shown.push({
      type: 'challenge',
      id_challenge,
      id_rubrique: rubriques.get(category)?.id_rubrique ?? 0,
      titre: name.trim() === '' ? `challenge-${id_challenge}` : name,
      descriptif: html,
      score: Math.max(0, value),
      url_challenge: pageOf(name, id_challenge),
    })
  }
  return { rubriques: [...rubriques.values()], challenges: shown }
}

const MAX_URL_CHARACTERS = 2_000

/** The page that shows a challenge, as CTFd's own pages link to it. A name that is too long ends between two characters. */
function pageOf(name: string, id: number): string {
  const room = MAX_URL_CHARACTERS - `challenges#-${id}`.length
  let encoded = ''
  for (const character of name) {
    const next = encodeURIComponent(character)
    if (encoded.length + next.length > room) break
    encoded += next
  }
  return `challenges#${encoded}-${id}`
}

function* records({ rubriques, auteurs, challenges }: Shown, solves: readonly Solve[]): Generator<DumpRecord> {
  yield* rubriques
  yield* auteurs
  yield* challenges
  for (const { account, challenge, date } of solves) {
    yield {
      type: 'validation',
      id_auteur: account,
      id_challenge: challenge,
      date: typeof date === 'number' ? formatInstant(date) : null,
    }
  }
}
