import { countedPage, type Page } from '../contract.js'
import { DEFAULT_PAGE_ROWS } from '../parameters.js'
import { statement } from '../store/query.js'
import type { Db } from '../store/store.js'
import type { GeleeRow } from './contract.js'

/** Read by operators alone, so a page may walk to its first row. */
export async function findGelees(db: Db, debut = 0, limite = DEFAULT_PAGE_ROWS): Promise<Page<GeleeRow>> {
  const [rows, counted] = await Promise.all([db.all(selectPage, { debut, limite }), db.get(countAll, {})])
  const total = Number(counted?.nb)
  return countedPage(rows, debut, limite, total)
}

const countAll = statement()((q) =>
  q.selectFrom('validations_gelees').select(({ fn }) => fn.countAll<number>().as('nb')),
)

const selectPage = statement<{ debut: number; limite: number }>()((q, p) =>
  q
    .selectFrom((inner) =>
      inner
        .selectFrom('validations_gelees')
        .selectAll()
        .orderBy('date')
        .orderBy('id_auteur')
        .orderBy('id_challenge')
        .limit(p.limite)
        .offset(p.debut)
        .as('g'),
    )
    .leftJoin('auteurs as a', 'a.id_auteur', 'g.id_auteur')
    .leftJoin('challenges as c', 'c.id_challenge', 'g.id_challenge')
    .select(['g.id_auteur', 'a.nom', 'g.id_challenge', 'c.titre', 'g.date'])
    .orderBy('g.date')
    .orderBy('g.id_auteur')
    .orderBy('g.id_challenge'),
)
