import { countedPage, type Page } from '../contract.js'
import { DEFAULT_PAGE_ROWS } from '../parameters.js'
import { statement } from '../store/query.js'
import type { Db } from '../store/store.js'
import type { GroupeRow } from './contract.js'

/** One page of the groups, by folded name. */
export async function findGroupes(db: Db, debut = 0, limite = DEFAULT_PAGE_ROWS): Promise<Page<GroupeRow>> {
  const [rows, counted] = await Promise.all([db.all(selectGroupes, { debut, limite }), db.get(countGroupes, {})])
  const total = Number(counted?.nb)
  return countedPage(rows, debut, limite, total)
}

const selectGroupes = statement<{ debut: number; limite: number }>()((q, p) =>
  q
    .selectFrom('groupes')
    .select(['nom', 'nb_auteurs'])
    .orderBy('nom_plie')
    .orderBy('groupe_cle')
    .limit(p.limite)
    .offset(p.debut),
)

const countGroupes = statement()((q) => q.selectFrom('groupes').select((e) => e.fn.countAll<number>().as('nb')))
