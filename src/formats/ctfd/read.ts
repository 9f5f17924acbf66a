import { FieldError, text } from '../../model/readers.js'
import { type Row, read, refuse, throwIfAny } from '../faults.js'
import { readGroupe } from '../groupe.js'
import type { Notes } from '../notes.js'
import { id, idOrNull, later, naiveInstant, truth, unixSeconds, wholePoints } from '../values.js'
import { fileOf } from './archive.js'
import type { Account, Awards, Challenge, Contest, Solve } from './model.js'
import { readId, readTable, type Source } from './tables.js'

/** The longest text that is taken over, before it is read as what it is. */
const MAX_TEXT = 8_000_000
const MAX_NAME = 1_000
const UNCATEGORIZED = 'Uncategorized'

/** The tables that every export must have; those of the accounts depend on what it says, those of dates on what it has. */
const NEEDED = ['config', 'challenges', 'solves', 'awards']

/**
 * Reads what is needed of the tables that are needed, in the order in which they refer to each other. Faults end it with the
 * table that has them. Throws `ImportError`.
 */
export async function readContest(source: Source, isFrozen: boolean): Promise<Contest> {
  const { leftOut } = source
  needTables(source, NEEDED)
  const config = await readConfig(source, isFrozen)
  const account = config.mode === 'teams' ? 'team' : 'user'
  needTables(source, [`${account}s`])
  const accounts = await readAccounts(source, account)
  const challenges = await readChallenges(source)
  for (const { isShown } of challenges.values()) if (!isShown) leftOut.add('challenge(s) that are not visible')
  const known = { account, accounts, challenges, before: config.freeze } as const
  const solves = await readSolves(source, known)
  await readDates(source, solves)
  if (config.freeze !== undefined) dropLate(source, solves, config.freeze)
  throwIfAny(source.faults)
  return { account, accounts, challenges, solves, awards: await readAwards(source, known) }
}

function needTables({ archive, faults }: Source, tables: readonly string[]): void {
  for (const table of tables) if (!archive.has(table)) faults.add(undefined, `${fileOf(table)} is missing`)
  throwIfAny(faults)
}

/** Two settings of many; the others may hold secrets. */
async function readConfig(source: Source, isFrozen: boolean): Promise<{ mode: unknown; freeze: number | undefined }> {
  let mode: unknown
  let freeze: number | null = null
  await readTable(source, 'config', ['key', 'value'], (row) => {
    if (row.key === 'user_mode') mode = row.value
    if (row.key === 'freeze' && isFrozen) freeze = read(row, 'value', unixSeconds)
  })
  const file = fileOf('config')
  if (mode === undefined) source.faults.add(undefined, `${file} has no user_mode; exports of CTFd 2 and later do`)
  else if (mode !== 'users' && mode !== 'teams')
    source.faults.add(undefined, `${file}: user_mode must be users or teams`)
  if (isFrozen && freeze === null) source.faults.add(undefined, `${file} has no freeze, so --freeze means nothing`)
  throwIfAny(source.faults)
  return { mode, freeze: freeze ?? undefined }
}

async function readAccounts(source: Source, account: Contest['account']): Promise<Map<number, Account>> {
  const brackets = await readBrackets(source)
  const accounts = new Map<number, Account>()
  await readTable(source, `${account}s`, ['id', 'name', 'hidden', 'banned'], (row) => {
    const own = readId(row, accounts)
    const isShown = !read(row, 'hidden', truth) && !read(row, 'banned', truth)
    if (!isShown) {
      accounts.set(own, { name: '', groupe: '', isShown })
      source.leftOut.add(`${account}(s) that are hidden or banned`)
      return
    }
    let name = read(row, 'name', text(MAX_NAME))
    if (name.trim() === '') {
      name = `${account}-${own}`
      source.warnings.add(`${account}(s) without a name are called ${account}-ID`, own)
    }
    accounts.set(own, { name, groupe: readBracket(row, brackets), isShown })
  })
  return accounts
}

/** Names of brackets by id. Versions before CTFd 3.7 have none. */
async function readBrackets(source: Source): Promise<Map<number, string> | undefined> {
  if (!source.archive.has('brackets')) return undefined
  const brackets = new Map<number, string>()
  await readTable(source, 'brackets', ['id', 'name'], (row) => {
    const own = readId(row, brackets)
    brackets.set(own, readGroupe(row, 'name', source.warnings, own))
  })
  return brackets
}

function readBracket(row: Row, brackets: ReadonlyMap<number, string> | undefined): string {
  const bracket = brackets ? read(row, 'bracket_id', idOrNull) : null
  if (bracket === null) return ''
  const found = brackets?.get(bracket)
  if (found === undefined)
    throw new FieldError(`bracket_id names ${bracket}, which ${fileOf('brackets')} does not have`)
  return found
}

async function readChallenges(source: Source): Promise<Map<number, Challenge>> {
  const initials = await readInitials(source)
  const challenges = new Map<number, Challenge>()
  await readTable(source, 'challenges', ['id', 'name', 'category', 'value'], (row) => {
    const own = readId(row, challenges)
    const isShown = Object.hasOwn(row, 'state') ? row.state === 'visible' : !read(row, 'hidden', truth)
    if (!isShown) {
      challenges.set(own, { name: '', category: '', description: '', value: 0, isShown })
      return
    }
    let category = read(row, 'category', text(MAX_NAME))
    if (category.trim() === '') {
      category = UNCATEGORIZED
      source.warnings.add(`challenge(s) without a category are put under ${UNCATEGORIZED}`, own)
    }
    const name = read(row, 'name', text(MAX_NAME))
    const description = read(row, 'description', text(MAX_TEXT))
    challenges.set(own, { name, category, description, value: readValue(row, own, initials, source.warnings), isShown })
  })
  return challenges
}

/** An unsolved dynamic challenge may have no value of its own. */
function readValue(row: Row, own: number, initials: ReadonlyMap<number, number>, warnings: Notes): number {
  if (row.value !== null && row.value !== undefined) return read(row, 'value', wholePoints)
  const initial =
    row.initial === null || row.initial === undefined ? initials.get(own) : read(row, 'initial', wholePoints)
  if (initial === undefined) throw new FieldError('value is missing, and so is initial')
  warnings.add('challenge(s) without a value are worth their initial one', own)
  return initial
}

/** Initial values by challenge. Versions have them here, in the challenges, or under another name. */
async function readInitials(source: Source): Promise<Map<number, number>> {
  const initials = new Map<number, number>()
  if (!source.archive.has('dynamic_challenge')) return initials
  await readTable(source, 'dynamic_challenge', ['id'], (row) => {
    const own = readId(row, initials)
    const column = ['initial', 'dynamic_initial'].find((name) => row[name] !== undefined && row[name] !== null)
    if (column !== undefined) initials.set(own, read(row, column, wholePoints))
  })
  return initials
}

interface Known {
  account: Contest['account']
  accounts: ReadonlyMap<number, Account>
  challenges: ReadonlyMap<number, Challenge>
  /** Seconds since 1970 from which on nothing counts. */
  before: number | undefined
}

async function readSolves(source: Source, known: Known): Promise<Map<number, Solve>> {
  const solves = new Map<number, Solve>()
  await readTable(source, 'solves', ['id', 'challenge_id', `${known.account}_id`], (row) => {
    const own = readId(row, solves)
    const account = readAccountId(row, known)
    const challenge = read(row, 'challenge_id', id)
    const found = known.challenges.get(challenge)
    if (!found) throw new FieldError(`challenge_id names ${challenge}, which ${fileOf('challenges')} does not have`)
    if (account === null) source.leftOut.add(`solve(s) without a ${known.account}`)
    else if (!found.isShown || !known.accounts.get(account)?.isShown)
      source.leftOut.add('solve(s) of hidden challenges or accounts')
    else solves.set(own, { account, challenge, date: read(row, 'date', naiveInstant) ?? undefined })
  })
  return solves
}

function readAccountId(row: Row, { account, accounts }: Known): number | null {
  const column = `${account}_id`
  const found = read(row, column, idOrNull)
  if (found !== null && !accounts.has(found)) {
    throw new FieldError(`${column} names ${found}, which ${fileOf(`${account}s`)} does not have`)
  }
  return found
}

/** A solve is a submission, and its date stands there alone. Of the submissions, nothing but id and date is taken. */
async function readDates(source: Source, solves: Map<number, Solve>): Promise<void> {
  let nbMissing = 0
  for (const { date } of solves.values()) if (date === undefined) nbMissing++
  if (nbMissing === 0) return
  if (!source.archive.has('submissions')) {
    throw refuse(`${fileOf('submissions')} is missing; the dates of ${nbMissing} solve(s) are in it`)
  }
  await readTable(source, 'submissions', ['id', 'date'], (row) => {
    const solve = solves.get(read(row, 'id', id))
    if (solve?.date === undefined && solve) solve.date = read(row, 'date', naiveInstant)
  })
  for (const [own, { date }] of solves) {
    if (date !== undefined) continue
    source.faults.add(`${fileOf('solves')}: id ${own}`, `is not in ${fileOf('submissions')}`)
  }
  throwIfAny(source.faults)
}

function dropLate({ faults, leftOut }: Source, solves: Map<number, Solve>, freeze: number): void {
  for (const [own, { date }] of solves) {
    if (date === null || date === undefined) {
      faults.add(`${fileOf('solves')}: id ${own}`, 'has no date, so it is not known whether --freeze leaves it out')
    } else if (date >= freeze) {
      solves.delete(own)
      leftOut.add('solve(s) at the freeze or after it')
    }
  }
}

async function readAwards(source: Source, known: Known): Promise<Contest['awards']> {
  const awards = new Map<number, Awards>()
  const { leftOut } = source
  const { before, accounts } = known
  await readTable(source, 'awards', ['value', `${known.account}_id`], (row) => {
    const account = readAccountId(row, known)
    const value = row.value === null ? 0 : read(row, 'value', wholePoints)
    const date = read(row, 'date', naiveInstant)
    if (account === null) return leftOut.add(`award(s) without a ${known.account}`)
    if (!accounts.get(account)?.isShown) return leftOut.add('award(s) of hidden accounts')
    if (before !== undefined && date === null) throw new FieldError('date is missing, which --freeze needs')
    if (before !== undefined && date !== null && date >= before)
      return leftOut.add('award(s) at the freeze or after it')
    const sum = awards.get(account) ?? { value: 0, date: null }
    awards.set(account, { value: sum.value + value, date: value === 0 ? sum.date : later(sum.date, date) })
  })
  return awards
}
