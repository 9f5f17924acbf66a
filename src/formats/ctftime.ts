import { formatInstant } from '../instant.js'
import { FieldError, required } from '../model/readers.js'
import { Faults } from '../portal/faults.js'
import { attempt, isRow, type Row, read, refuse, throwIfAny } from './faults.js'
import { readGroupe } from './groupe.js'
import { readJsonFile } from './json.js'
import { Notes } from './notes.js'
import { type Converted, type DumpRecord, toAuteur } from './records.js'
import { stableId, stableIds } from './stable-ids.js'
import { type Decimal, placeOrNone, points, unixSeconds } from './values.js'

const MAX_NAME = 1_000
const MAX_VALIDATIONS = 5_000_000

/** All tasks of a feed, which knows no categories, are in one. */
const RUBRIQUE = 'Tasks'

interface Task {
  id: number
  /** The least that anybody has for it. */
  points: number | undefined
}

interface Feed {
  scale: Decimal | undefined
  faults: Faults
  warnings: Notes
  tasks: Map<string, Task>
  toTaskId: (name: string) => number
  auteurs: DumpRecord[]
  places: Map<number, number | undefined>
  validations: DumpRecord[]
}

/**
 * Reads a feed as CTFtime polls it: teams with their scores, and with their tasks and times where it has them. Ids are made
 * from the names. Throws `ImportError` with what is wrong and where.
 */
export async function convertCtftime(chunks: AsyncIterable<Uint8Array>, scale?: Decimal): Promise<Converted> {
  const { standings, tasks = [] } = await readJsonFile(chunks, 'ctftime')
  if (!Array.isArray(standings)) throw refuse('standings must be a list of teams')
  if (!Array.isArray(tasks)) throw refuse('tasks must be a list of names, or of objects with a name')
  const feed: Feed = {
    ...{ scale, faults: new Faults(), warnings: new Notes(), tasks: new Map() },
    ...{ toTaskId: stableIds(), auteurs: [], places: new Map(), validations: [] },
  }
  for (const [index, task] of tasks.entries()) {
    attempt(feed.faults, `tasks[${index}]`, () => takeTask(feed, required(MAX_NAME)(isRow(task) ? task.name : task)))
  }
  const toTeamId = teamIds()
  for (const [index, entry] of standings.entries()) {
    attempt(feed.faults, `standings[${index}]`, () => takeTeam(feed, entry, index, toTeamId))
  }
  throwIfAny(feed.faults)
  const { auteurs, places, warnings } = feed
  for (const task of feed.tasks.values()) {
    if ((task.points ?? 0) < 0) warnings.add('task(s) worth less than 0 are shown as worth 0')
  }
  return { records: records(feed), nbAuteurs: auteurs.length, places, leftOut: [], warnings: warnings.lines() }
}

/** Teams of the same name get ids by their order. No name contains the NUL that separates name and order. */
function teamIds(): (name: string) => { id: number; isFirst: boolean } {
  const counts = new Map<string, number>()
  const idOf = stableIds()
  return (name) => {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return { id: idOf(count === 1 ? name : `${name}\0${count}`), isFirst: count === 1 }
  }
}

function takeTeam(feed: Feed, entry: unknown, index: number, toTeamId: ReturnType<typeof teamIds>): void {
  if (!isRow(entry)) throw new FieldError('must be an object')
  const nom = read(entry, 'team', required(MAX_NAME))
  const score = read(entry, 'score', points(feed.scale))
  const { warnings } = feed
  const groupe = readGroupe(entry, 'bracket_name', warnings, index)
  const { id, isFirst } = toTeamId(nom)
  if (!isFirst) warnings.add('team(s) have the name of one before them, and the id of their order; standings', index)
  if (score < 0) warnings.add('team(s) with a score below 0 have 0; standings', index)
  feed.auteurs.push(toAuteur(id, nom, score, { groupe, reached: lastAcceptOf(entry, index, warnings) }))
  feed.places.set(id, placeOrNone(entry.pos))
  for (const [nth, [name, stat]] of statsOf(entry).entries()) {
    const place = `standings[${index}].taskStats: task ${nth + 1}`
    attempt(feed.faults, place, () => takeStat(feed, id, name, stat))
  }
}

/** Only ties depend on this time, so an invalid one does not refuse a file. Platforms write 0 for a team without solves. */
function lastAcceptOf(entry: Row, index: number, warnings: Notes): number | null {
  try {
    return read(entry, 'lastAccept', unixSeconds) || null
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    warnings.add('team(s) have a lastAccept that is no time in seconds; standings', index)
    return null
  }
}

/** Some languages write an empty object as an empty list. */
function statsOf({ taskStats }: Row): [string, unknown][] {
  if (taskStats === undefined || taskStats === null) return []
  if (Array.isArray(taskStats) && taskStats.length === 0) return []
  if (!isRow(taskStats)) throw new FieldError('taskStats must be an object of tasks by name')
  return Object.entries(taskStats)
}

function takeStat(feed: Feed, id_auteur: number, name: string, stat: unknown): void {
  if (!isRow(stat)) throw new FieldError('must contain objects with points')
  if (feed.validations.length >= MAX_VALIDATIONS)
    throw new FieldError(`has more than ${MAX_VALIDATIONS} entries in all`)
  const task = takeTask(feed, required(MAX_NAME)(name))
  const found = read(stat, 'points', points(feed.scale))
  task.points = Math.min(task.points ?? found, found)
  const time = read(stat, 'time', unixSeconds)
  const date = time === null ? null : formatInstant(time)
  feed.validations.push({ type: 'validation', id_auteur, id_challenge: task.id, date })
}

function takeTask({ tasks, toTaskId }: Feed, name: string): Task {
  const task = tasks.get(name) ?? { id: toTaskId(name), points: undefined }
  tasks.set(name, task)
  return task
}

function* records({ tasks, auteurs, validations }: Feed): Generator<DumpRecord> {
  const id_rubrique = stableId(RUBRIQUE)
  if (tasks.size > 0) yield { type: 'rubrique', id_rubrique, nom: RUBRIQUE }
  yield* auteurs
  for (const [titre, task] of tasks) {
    yield { type: 'challenge', id_challenge: task.id, id_rubrique, titre, score: Math.max(0, task.points ?? 0) }
  }
  yield* validations
}
