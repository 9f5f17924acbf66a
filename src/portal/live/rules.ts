import { UNKNOWN_DATE } from '../../instant.js'
import type { Kind } from '../../model/kind.js'
import { auteurs, challenges, rubriques, validations } from '../../model/kinds.js'
import { insertMoves } from '../../store/counted/moves.js'
import * as orders from '../../store/orders.js'
import type { Db } from '../../store/store.js'
import { HOLDS_PLACE } from '../derive.js'
import { lotOf, referencesIn, sameKey, tuple } from '../lot.js'
import { mergeList, upsertOf } from '../merge.js'
import { noteGroups, touch } from './touched.js'

/** A step of several lines that touches more than this is applied in parts, between which its time can be over. */
export const MAX_WEIGHT = 2_000

/** A select of (ligne, id) of lines that are refused, and why: the reason names the id. */
export interface Refusing {
  select: string
  reason: (id: number | string) => string
}

/** How the lines of one kind change the portal; every select is over their lot, as `l`. */
export interface Rules {
  /** A select of how much the lines touch besides themselves, as `poids`. */
  weight?: string
  /** What is to be worked out of the lines first. */
  prepare?: readonly string[]
  refusals?: readonly Refusing[]
  /** A select of the lines that say just what the portal holds, where that is not `knownOf` their kind. */
  known?: string
  /** Another table that records of the kind may be in. */
  alsoIn?: string
  /** A select of (ligne, resultat) of the lines that change nothing that is shown. */
  unseen?: string
  /** A select of how many points more somebody may have had between the lines than after the last one. */
  between?: string
  apply: (db: Db) => Promise<void>
}

/** Lines that name a record which is not there. */
function dangling(kind: Kind): Refusing[] {
  return referencesIn(kind).map(({ lot, column, parent, field }) => ({
    select: `select l.ligne, min(l.${column}) as id from ${lot} l
      where not exists (select 1 from ${parent} p where p.${column} = l.${column}) group by l.ligne`,
    reason: (id) => `${field} names ${id}, which ${parent} does not have`,
  }))
}

/** Lines whose record the table holds with the same columns; a further condition may speak of that record, `t`. */
function holdingSame(kind: Kind, further = 'true'): string {
  const { table, columns } = kind
  return `select l.ligne from ${lotOf(table)} l join ${table} t on ${sameKey(kind, 't', 'l')}
    where ${tuple(columns, 't')} is not distinct from ${tuple(columns, 'l')} and ${further}`
}

/** A solve without a date says no more than one that the portal has: it never erases a date. */
const UNDATED_OR_SAME = `select l.ligne from lot_validations l join validations t on t.id_auteur = l.id_auteur and t.id_challenge = l.id_challenge
  where l.date = ${UNKNOWN_DATE} or t.date = l.date`

/** Lines that say just what the portal holds: the same record, or none. */
export function knownOf(kind: Kind, isRemoval: boolean): string {
  if (!isRemoval) return holdingSame(kind)
  const { table } = kind
  return `select l.ligne from ${lotOf(table)} l where not exists (select 1 from ${table} t where ${sameKey(kind, 't', 'l')})`
}

/** Adds the new records of the lot to the list of their table. */
function listNew(table: 'auteurs' | 'challenges', id: string): string {
  const isNew = `not exists (select 1 from ${table} t where t.${id} = l.${id})`
  return insertMoves(orders.lists[table], 1, 'l', `${lotOf(table)} l where ${isNew}`)
}

const SOLVED_AND_LISTED = `select (select count(*) from lot_challenges_auteurs) + coalesce(sum(t.nb_validations), 0) as poids
  from lot_challenges l join challenges t on t.id_challenge = l.id_challenge`

/** The authors of lines. */
const OF_LINES = 'select id_auteur from lot_auteurs'

/** For lines that write a record, by its type. */
export const upserts: Record<string, Rules> = {
  rubrique: {
    apply: async (db) => void (await db.exec(upsertOf(rubriques))),
  },
  auteur: {
    // The score that a line says holds for what is solved by then: what is missing is the base.
    prepare: [
      `update lot_auteurs set base_voulue = coalesce(base_voulue, score_voulu - (
         select coalesce(sum(c.score), 0) from validations v join challenges c on c.id_challenge = v.id_challenge
         where v.id_auteur = lot_auteurs.id_auteur), 0)`,
    ],
    known: holdingSame(auteurs, 't.base = l.base_voulue'),
    apply: async (db) => {
      await touch(db, OF_LINES)
      await db.exec(noteGroups(OF_LINES))
      await db.exec(listNew('auteurs', 'id_auteur'))
      await db.exec(upsertOf(auteurs))
      await db.exec(noteGroups(OF_LINES))
      await db.exec(
        'update auteurs set base = l.base_voulue from lot_auteurs l where l.id_auteur = auteurs.id_auteur and auteurs.base <> l.base_voulue',
      )
    },
  },
  challenge: {
    refusals: dangling(challenges),
    known: holdingSame(
      challenges,
      `not exists (select id_auteur from lot_challenges_auteurs n where n.id_challenge = t.id_challenge
         except select id_auteur from challenges_auteurs o where o.id_challenge = t.id_challenge)
       and not exists (select id_auteur from challenges_auteurs o where o.id_challenge = t.id_challenge
         except select id_auteur from lot_challenges_auteurs n where n.id_challenge = t.id_challenge)`,
    ),
    // A score that falls would hide that another line, alone, gives somebody too many points.
    between: `select coalesce(sum(t.score - l.score), 0) as points from lot_challenges l
      join challenges t on t.id_challenge = l.id_challenge where l.score < t.score`,
    weight: SOLVED_AND_LISTED,
    apply: async (db) => {
      await touch(
        db,
        `select v.id_auteur from lot_challenges l cross join challenges t cross join validations v
         where t.id_challenge = l.id_challenge and v.id_challenge = l.id_challenge
           and (t.score <> l.score or t.id_rubrique <> l.id_rubrique)`,
      )
      await db.exec(listNew('challenges', 'id_challenge'))
      await countChallenges(db, '-')
      await db.exec(upsertOf(challenges))
      await countChallenges(db, '+')
      await mergeList(db, challenges)
    },
  },
  validation: {
    refusals: dangling(validations),
    known: UNDATED_OR_SAME,
    apply: async (db) => {
      await touch(db, 'select id_auteur from lot_validations')
      await moveValidations(db, -1)
      await db.exec(upsertOf(validations))
      await moveValidations(db, 1)
    },
  },
}

/** For lines that remove one. */
export const removals: Record<string, Rules> = {
  auteur: {
    refusals: [
      {
        select: `select l.ligne, min(c.login) as id from lot_auteurs l cross join comptes c
          where c.id_auteur = l.id_auteur group by l.ligne`,
        reason: (login) => `the auteur has the account ${login}; remove it first, with palmares accounts remove`,
      },
    ],
    weight: `select (select count(*) from lot_auteurs l cross join challenges_auteurs o where o.id_auteur = l.id_auteur)
      + coalesce(sum(t.nb_validations), 0) as poids from lot_auteurs l join auteurs t on t.id_auteur = l.id_auteur`,
    apply: async (db) => {
      await touch(db, OF_LINES)
      await db.exec(noteGroups(OF_LINES))
      await db.exec(insertMoves(orders.lists.auteurs, -1, 'l', 'lot_auteurs l'))
      await db.exec(insertMoves(orders.classement, -1, 'a', RANKED_REMOVED))
      await moveValidations(db, -1, 'lot_auteurs l cross join validations v where v.id_auteur = l.id_auteur')
      await db.exec(removeFrom('validations', 'id_auteur', 'auteurs'))
      await db.exec(removeFrom('challenges_auteurs', 'id_auteur', 'auteurs'))
      await db.exec(removeFrom('auteurs', 'id_auteur'))
    },
  },
  rubrique: {
    refusals: [
      {
        select: `select l.ligne, min(c.id_challenge) as id from lot_rubriques l
          join challenges c on c.id_rubrique = l.id_rubrique group by l.ligne`,
        reason: (id) => `the rubrique is still used by challenge ${id}`,
      },
    ],
    apply: async (db) => void (await db.exec(removeFrom('rubriques', 'id_rubrique'))),
  },
  challenge: {
    weight: SOLVED_AND_LISTED,
    apply: async (db) => {
      await touch(db, `select v.id_auteur from validations v where ${OF_REMOVED}`)
      await db.exec(insertMoves(orders.lists.challenges, -1, 'l', 'lot_challenges l'))
      await db.exec(insertMoves(orders.validations, -1, 'v', `validations v where ${OF_REMOVED}`))
      await db.exec(`delete from validations as v where ${OF_REMOVED}`)
      await db.exec(removeFrom('challenges_auteurs', 'id_challenge', 'challenges'))
      await countChallenges(db, '-')
      await db.exec(removeFrom('challenges', 'id_challenge'))
    },
  },
  validation: {
    apply: async (db) => {
      await touch(db, 'select id_auteur from lot_validations')
      await moveValidations(db, -1)
      await db.exec(
        `delete from validations as v where (v.id_auteur, v.id_challenge) in (select id_auteur, id_challenge from lot_validations)`,
      )
    },
  },
}

/** `settle` notes only authors who still exist. */
const RANKED_REMOVED = `lot_auteurs l cross join auteurs a where a.id_auteur = l.id_auteur and ${HOLDS_PLACE}`
const OF_REMOVED = 'v.id_challenge in (select id_challenge from lot_challenges)'

function removeFrom(table: string, id: string, lot = table): string {
  return `delete from ${table} where ${id} in (select ${id} from ${lotOf(lot)})`
}

/** Takes validations out of orders and counts before they change or are removed, and adds them after they changed. */
async function moveValidations(db: Db, nb: 1 | -1, from = OF_LOT): Promise<void> {
  await db.exec(insertMoves(orders.validations, nb, 'v', from))
  await db.exec(
    // PostgreSQL would walk all validations in the order of the groups.
    `with mouvements as materialized (select v.id_challenge from ${from})
     update challenges set nb_validations = nb_validations + n.nb
     from (select id_challenge, ${nb} * count(*) as nb from mouvements group by id_challenge) as n
     where n.id_challenge = challenges.id_challenge`,
  )
}

const OF_LOT = 'lot_validations l join validations v on v.id_auteur = l.id_auteur and v.id_challenge = l.id_challenge'

/** The challenges of the lot that there are, in the counts of their categories. */
async function countChallenges(db: Db, sign: '+' | '-'): Promise<void> {
  await db.exec(
    `update rubriques set nb_challenges = nb_challenges ${sign} n.nb
     from (select c.id_rubrique, count(*) as nb from lot_challenges l join challenges c on c.id_challenge = l.id_challenge
       group by c.id_rubrique) as n
     where n.id_rubrique = rubriques.id_rubrique`,
  )
}
