import { UNKNOWN_DATE } from '../../instant.js'
import { validations } from '../../model/kinds.js'
import { bitOf } from '../../model/line.js'
import { freezeLines, isFrozen, isLate, isShown, NOT_FROZEN } from '../frozen.js'
import { sameKey } from '../lot.js'
import { type Rules, removals, upserts } from './rules.js'
import type { Step } from './steps.js'

/** How the lines of a step change the portal, with the instant of the setting `gel` if it is set. */
export function rulesOf({ kind, isRemoval, lines }: Step, gel: number | undefined): Rules {
  const rules = (isRemoval ? removals : upserts)[kind.type] as Rules
  if (kind.type !== validations.type) return rules
  if (gel !== undefined) return isRemoval ? removing(rules) : freezing(rules, gel)
  // Looked for here, so that other lines cost no statement more.
  const hasMarked = lines.some(({ row }) => row[MARK] === 1)
  return hasMarked ? { ...rules, refusals: [...(rules.refusals ?? []), MARKED] } : rules
}

/** Where the row of a line says that it is marked. */
const MARK = validations.sources.findIndex(({ field }) => field === 'gelee')
const MARKED = {
  select: 'select l.ligne, 0 as id from lot_validations l where l.gelee = 1',
  reason: () => NOT_FROZEN,
}

const OF_LINES = '(id_auteur, id_challenge) in (select id_auteur, id_challenge from lot_validations)'
const UNFREEZE = `delete from validations_gelees where ${OF_LINES}`

/** Partial lines that keep the date of a frozen validation leave it frozen. */
const COMPLETION = `update lot_validations set date = g.date, gelee = 1 from validations_gelees g
  where (lot_validations.absents & ${bitOf(validations, 'date')}) <> 0 and ${sameKey(validations, 'g', 'lot_validations')}`

/** Freezes late lines, unless their validation is shown already. The others are applied, and no longer frozen. */
function freezing(rules: Rules, gel: number): Rules {
  const late = isLate(gel)
  return {
    ...rules,
    alsoIn: 'validations_gelees',
    prepare: [COMPLETION],
    known: `select l.ligne from lot_validations l join validations t on ${sameKey(validations, 't', 'l')}
      where ${late} or t.date = l.date`,
    unseen: `select l.ligne, 'gelee' as resultat from lot_validations l where ${late}`,
    apply: async (db) => {
      await db.exec(freezeLines(late, `excluded.date < ${UNKNOWN_DATE}`))
      await db.exec(`delete from lot_validations as l where ${late}`)
      await db.exec(UNFREEZE)
      await rules.apply(db)
    },
  }
}

/** Removes validations, shown or frozen. */
function removing(rules: Rules): Rules {
  return {
    ...rules,
    known: `select l.ligne from lot_validations l where not ${isShown('l')} and not ${isFrozen('l')}`,
    unseen: `select l.ligne, 'appliquee' as resultat from lot_validations l where not ${isShown('l')}`,
    apply: async (db) => {
      await db.exec(UNFREEZE)
      await db.exec(`delete from lot_validations as l where not ${isShown('l')}`)
      await rules.apply(db)
    },
  }
}
