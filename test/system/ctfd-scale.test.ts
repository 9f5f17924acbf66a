import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { award, challenge, contest, ctfdZip, solve, submission, type Tables, user } from '../ctfd.js'
import { ACCOUNT, addAccount, addKey, engines, type MadeStore, makeFolder, makeStore, serveStore } from '../harness.js'
import { palmaresHere } from '../here.js'

const NB_USERS = 5_000
const NB_CHALLENGES = 200
const NB_SOLVES = 100_000
const NB_WRONG = 50_000

let folder: string
interface Row {
  id: number
  value: string | number
  hidden: number
  banned: boolean
  state: string
  user_id: number
  challenge_id: number
}

let tables: Record<'users' | 'challenges' | 'solves' | 'submissions' | 'awards', Row[]>

beforeAll(() => {
  folder = makeFolder()
  tables = generate() as never
  writeFileSync(
    join(folder, 'export.zip'),
    ctfdZip(contest({ ...(tables as unknown as Tables), dynamic_challenge: [] })),
  )
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(engines)('5,000 users and 100,000 solves into %s', (engine) => {
  let made: MadeStore
  let served: Awaited<ReturnType<typeof serveStore>>
  let key: string
  beforeAll(async () => {
    made = await makeStore(engine)
    const file = join(folder, 'export.zip')
    expect(await palmaresHere('import', '--format', 'ctfd', '--database', made.url, file)).toMatchObject({ status: 0 })
    await addAccount(made.store, ACCOUNT)
    key = await addKey(made.store, ACCOUNT.login)
    served = await serveStore(made.store, { logLevel: 'silent' })
  })
  afterAll(async () => {
    await served.app.close()
    await made.close()
  })

  async function walk<T>(list: string): Promise<T[]> {
    const rows: T[] = []
    for (let path: string | undefined = `${served.url}${list}?limite=500`; path; ) {
      const response: Response = await fetch(path, { headers: { authorization: `Bearer ${key}` } })
      rows.push(...((await response.json()) as T[]))
      path = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
    }
    return rows
  }

  test('every score and place follows from the tables by the scoring rule', async () => {
    const scores = scoresByRule()
    const sorted = [...scores.values()].sort((a, b) => b - a)
    const places = new Map<number, number>()
    for (const [index, score] of sorted.entries()) if (!places.has(score)) places.set(score, index + 1)
    const expected = [...scores]
      .sort(([a, scoreOfA], [b, scoreOfB]) => scoreOfB - scoreOfA || a - b)
      .map(([id, score]) => ({
        place: places.get(score),
        nom: `user ${id}`,
        score: String(score),
        id_auteur: String(id),
      }))
    const found = await walk('/classement')
    expect(found.length).toBeGreaterThan(4_800)
    expect(found).toEqual(expected)
  })

  test('every challenge has as many solves as in the tables', async () => {
    const expected = new Map<number, number>()
    for (const { challenge_id } of shownSolves()) expected.set(challenge_id, (expected.get(challenge_id) ?? 0) + 1)
    const found = await walk<{ id_challenge: number; nb_validations: number }>('/challenges')
    expect(found.length).toBeGreaterThan(180)
    for (const { id_challenge, nb_validations } of found) {
      expect([id_challenge, nb_validations]).toEqual([id_challenge, expected.get(id_challenge) ?? 0])
    }
  })
})

/** Tables whose columns are computed from the row number, so they are always the same. */
function generate(): Tables {
  const users = range(NB_USERS).map((id) => user(id, { hidden: id % 97 === 2 ? 1 : 0, banned: id % 101 === 3 }))
  const challenges = range(NB_CHALLENGES).map((id) => {
    const value = id % 3 === 0 ? String(10 * id) : id % 41 === 0 ? -25 : 5 * id
    return challenge(id, { value, category: `category ${id % 7}`, state: id % 29 === 4 ? 'hidden' : 'visible' })
  })
  const solves: object[] = []
  const submissions: object[] = []
  for (let index = 0; index < NB_SOLVES; index++) {
    const account = (index % NB_USERS) + 1
    const turn = Math.floor(index / NB_USERS)
    const id = index * 2 + 1
    solves.push(solve(id, account, ((account * 31 + turn * turn) % NB_CHALLENGES) + 1))
    submissions.push(
      submission(id, new Date(Date.UTC(2026, 0, 31) + (index % 86_400) * 1_000).toISOString().slice(0, 23)),
    )
    if (index < NB_WRONG) submissions.push(submission(id + 1, '2026-01-31T00:00:00', { type: 'incorrect' }))
  }
  const awards = range(3_000).map((id) =>
    award(id, (id % NB_USERS) + 1, id % 5 === 0 ? -700 : id % 50, '2026-01-31T00:00:00'),
  )
  return { users, challenges, solves: solves as never, submissions: submissions as never, awards }
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}

const shownUsers = () => new Set(tables.users.filter(({ hidden, banned }) => !hidden && !banned).map(({ id }) => id))

/** One row for each visible account and visible challenge. */
function shownSolves(): { user_id: number; challenge_id: number }[] {
  const accounts = shownUsers()
  const visible = new Set(tables.challenges.filter(({ state }) => state === 'visible').map(({ id }) => id))
  const first = new Map<string, { user_id: number; challenge_id: number }>()
  for (const { user_id, challenge_id } of tables.solves) {
    if (accounts.has(user_id) && visible.has(challenge_id))
      first.set(`${user_id}/${challenge_id}`, { user_id, challenge_id })
  }
  return [...first.values()]
}

/** Score = current value of the solves + awards, and never below 0. */
function scoresByRule(): Map<number, number> {
  const values = new Map(tables.challenges.map(({ id, value }) => [id, Number(value)]))
  const scores = new Map([...shownUsers()].map((id) => [id, 0]))
  for (const { user_id, challenge_id } of shownSolves())
    scores.set(user_id, scores.get(user_id)! + values.get(challenge_id)!)
  for (const { user_id, value } of tables.awards) {
    if (scores.has(user_id)) scores.set(user_id, scores.get(user_id)! + Number(value))
  }
  return new Map([...scores].map(([id, score]) => [id, Math.max(0, score)]))
}
