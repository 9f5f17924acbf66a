import { CLASSEMENT_WALK, placesInTurn } from '../classement/rank.js'
import { UNKNOWN_DATE } from '../instant.js'
import { toJsonText } from '../json.js'
import { padded } from '../store/list.js'
import type { Db } from '../store/store.js'
import { walk } from '../store/walk.js'
import { taskNames } from './names.js'

/** Rows read at a time. */
const ROWS = 500
/** Solves that are read and written at once: so many hold the event loop for a few milliseconds. */
const SOLVES = 2_000

/** The text of the feed, in pieces. It is written by hand, as a name such as `__proto__` or `42` is not safe as a key of an object. */
export async function* feed(db: Db): AsyncGenerator<string> {
  const { names, tasks } = await readTasks(db)
  yield `{"tasks":[${names.join(',')}],"standings":[`
  const place = placesInTurn()
  let before = ''
  for await (const ranked of walk<Ranked>(db, { ...CLASSEMENT_WALK, rows: ROWS })) {
    for (const some of bySolves(ranked)) {
      const solves = await readSolves(db, some)
      yield before + some.map((row) => standing(row, place(row), solves.get(row.id_auteur) ?? [], tasks)).join(',')
      before = ','
    }
  }
  yield ']}'
}

interface Ranked {
  id_auteur: number
  nom: string
  score: number
  date: number
  nb_validations: number
}

interface Solve {
  id_auteur: number
  id_challenge: number
  date: number
}

/** The names as JSON, and for each challenge what every solve of it begins with. */
async function readTasks(db: Db): Promise<{ names: string[]; tasks: Map<number, string> }> {
  const challenges: { id_challenge: number; titre: string; score: number }[] = []
  const where = {
    columns: 'id_challenge, titre, score',
    from: 'challenges',
    key: ['id_challenge'],
    after: [0],
    rows: ROWS,
  }
  for await (const rows of walk<(typeof challenges)[number]>(db, where)) challenges.push(...rows)
  const byId = taskNames(challenges)
  const names = challenges.map(({ id_challenge }) => toJsonText(byId.get(id_challenge)))
  const tasks = challenges.map(
    ({ id_challenge, score }, i) => [id_challenge, `${names[i]}:{"points":${score}`] as const,
  )
  return { names, tasks: new Map(tasks) }
}

/** Cuts a list of authors so that each part has few solves, or is one author. */
function* bySolves(ranked: Ranked[]): Generator<Ranked[]> {
  let some: Ranked[] = []
  let solves = 0
  for (const row of ranked) {
    if (some.length > 0 && solves + row.nb_validations > SOLVES) {
      yield some
      some = []
      solves = 0
    }
    some.push(row)
    solves += row.nb_validations
  }
  yield some
}

async function readSolves(db: Db, auteurs: Ranked[]): Promise<Map<number, Solve[]>> {
  const solves = new Map<number, Solve[]>(auteurs.map(({ id_auteur }) => [id_auteur, []]))
  const ids = padded([...solves.keys()])
  const rows = await db.select<Solve>(
    `select id_auteur, id_challenge, date from validations where id_auteur in (${ids.map(() => '?').join(', ')})
     order by id_auteur, id_challenge`,
    ...ids,
  )
  for (const row of rows) solves.get(row.id_auteur)?.push(row)
  return solves
}

function standing({ nom, score, date }: Ranked, place: number, solves: Solve[], tasks: Map<number, string>): string {
  const stats = solves.map(
    ({ id_challenge, date }) => `${tasks.get(id_challenge)}${isKnown(date) ? `,"time":${date}` : ''}}`,
  )
  // If dates break ties, a reader of the feed ranks by the same dates.
  const times = date === 0 ? solves.map((solve) => solve.date) : [date]
  const last = Math.max(...times.filter(isKnown))
  const lastAccept = Number.isFinite(last) ? `,"lastAccept":${last}` : ''
  return `{"pos":${place},"team":${toJsonText(nom)},"score":${score},"taskStats":{${stats.join(',')}}${lastAccept}}`
}

function isKnown(date: number): boolean {
  return date !== UNKNOWN_DATE
}
