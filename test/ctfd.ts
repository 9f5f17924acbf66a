import { type ZipEntry, zip } from './zip.js'

type Row = Record<string, unknown>

/** The tables of an export, by name. */
export type Tables = Record<string, readonly Row[] | string | undefined>

/** The entries of an export: an empty table becomes an empty file, a text is used as it is, and undefined omits the table. */
export function entriesOf(tables: Tables): ZipEntry[] {
  return Object.entries(tables).flatMap(([table, rows]) => {
    if (rows === undefined) return []
    const whole = typeof rows === 'string' ? rows : JSON.stringify({ count: rows.length, results: rows, meta: {} })
    return { name: `db/${table}.json`, data: rows.length === 0 ? '' : whole }
  })
}

export function ctfdZip(tables: Tables, others: readonly ZipEntry[] = []): Buffer {
  return zip([...entriesOf(tables), ...others])
}

/** Words that no import may keep, in the columns and tables where exports have them. */
export const SECRETS = {
  flag: 'secret-flag-2c61',
  password: '$bcrypt-sha256$secret-hash-9f11',
  email: 'secret-mail@example.org',
  ip: '203.0.113.77',
  provided: 'secret-provided-5d20',
  token: 'ctfd_secret-token-77aa',
  hidden: 'secret-hidden-person',
  draft: 'secret-hidden-challenge',
  setting: 'secret-mail-server-password',
  hint: 'secret-hint-81be',
}

/** A small export that has each difficulty once. `override` replaces whole tables. */
export function contest(override: Tables = {}): Tables {
  return {
    alembic_version: [{ version_num: 'a1b2c3' }],
    config: [
      { id: 1, key: 'ctf_name', value: 'A contest' },
      { id: 2, key: 'mail_password', value: SECRETS.setting },
      { id: 3, key: 'user_mode', value: 'users' },
      { id: 4, key: 'freeze', value: '1769947200' },
    ],
    users: [
      user(1, { name: 'alice' }),
      user(2, { name: 'alice', hidden: 0, banned: false }),
      user(3, { name: null, hidden: '0' }),
      user(4, { name: SECRETS.hidden, hidden: 1 }),
      user(5, { name: SECRETS.hidden, banned: true }),
      user(6, { name: 'Élodie 🚩' }),
    ],
    teams: [],
    challenges: [
      challenge(1, { name: 'Livre d’or / 100 %', category: 'Web', value: 100, description: 'A **book**.\n\n<b>x</b>' }),
      challenge(2, { name: 'Dynamic', category: 'Web', type: 'dynamic', value: '376.0' }),
      challenge(3, { name: 'Fresh', category: null, type: 'dynamic', value: null }),
      challenge(4, { name: 'Trap', category: 'Crypto', value: '-25' }),
      challenge(5, { name: SECRETS.draft, category: 'Hidden', value: 1000, state: 'hidden' }),
      challenge(6, { name: '', category: 'Crypto', value: 10, initial: 5 }),
    ],
    dynamic_challenge: [
      { id: 2, initial: 500, minimum: 100, decay: 20 },
      { id: 3, dynamic_initial: '500' },
    ],
    solves: [
      solve(11, 1, 1),
      solve(12, 2, 1),
      solve(13, 1, 2),
      solve(14, 6, 4),
      solve(15, 4, 1),
      solve(16, 1, 5),
      solve(17, 3, 2),
      solve(18, 3, 2),
    ],
    submissions: [
      submission(10, '2026-01-30T10:00:00', { type: 'incorrect' }),
      submission(11, '2026-01-31T10:00:00.123456'),
      submission(12, '2026-01-31 11:00:00'),
      submission(13, '2026-02-01T12:00:00+00:00'),
      submission(14, '2026-01-31T13:30:00.5'),
      submission(15, '2026-01-31T14:00:00'),
      submission(16, '2026-01-31T15:00:00'),
      submission(17, '2026-01-31T17:00:00Z'),
      submission(18, '2026-01-31T16:00:00'),
    ],
    awards: [
      award(1, 1, '50', '2026-02-02T00:00:00'),
      award(2, 3, -400, '2026-01-31T18:00:00'),
      award(3, 4, 999, '2026-01-31T18:00:00'),
      award(4, 6, null, '2026-01-31T18:00:00'),
    ],
    flags: [{ id: 1, challenge_id: 1, content: SECRETS.flag }],
    hints: [{ id: 1, content: SECRETS.hint }],
    tokens: [{ id: 1, value: SECRETS.token }],
    ...override,
  }
}

export function user(id: number, columns: Row = {}): Row {
  const secret = { password: SECRETS.password, email: SECRETS.email }
  return { id, name: `user ${id}`, ...secret, type: 'user', hidden: false, banned: false, verified: 1, ...columns }
}

export function team(id: number, columns: Row = {}): Row {
  return { id, name: `team ${id}`, password: SECRETS.password, email: SECRETS.email, hidden: 0, banned: 0, ...columns }
}

export function challenge(id: number, columns: Row = {}): Row {
  const plain = { name: `challenge ${id}`, description: '', category: 'Web', value: 100, type: 'standard' }
  return { id, ...plain, state: 'visible', max_attempts: 0, requirements: null, ...columns }
}

export function solve(id: number, user_id: number | null, challenge_id: number, columns: Row = {}): Row {
  return { id, challenge_id, user_id, team_id: null, ...columns }
}

export function submission(id: number, date: string | null, columns: Row = {}): Row {
  return { id, ip: SECRETS.ip, provided: SECRETS.provided, type: 'correct', date, ...columns }
}

export function award(id: number, user_id: number | null, value: unknown, date: string, columns: Row = {}): Row {
  return { id, user_id, team_id: null, type: 'standard', name: 'award', value, date, ...columns }
}
