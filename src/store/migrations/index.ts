import { portal } from './0001-portal.js'
import { live } from './0002-live.js'
import { lastImport } from './0003-import.js'
import { keySessions } from './0004-key-sessions.js'
import { mirror } from './0005-mirror.js'
import { accounts } from './0006-accounts.js'
import { groupe } from './0007-groupe.js'
import { contest } from './0008-contest.js'
import { groupes } from './0009-groupes.js'
import { gel } from './0010-gel.js'
import type { Migration } from './migration.js'

export const migrations: readonly Migration[] = [
  portal,
  live,
  lastImport,
  keySessions,
  mirror,
  accounts,
  groupe,
  contest,
  groupes,
  gel,
]

/** The schema that this program reads and writes; a store that says more was made by a newer one. */
export const SCHEMA_VERSION = migrations.length
