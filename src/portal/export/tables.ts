import { CLASSEMENT_WALK, placesInTurn } from '../../classement/rank.js'
import type { Kind } from '../../model/kind.js'
import { REPORTED_KINDS } from '../../model/kinds.js'
import { showColumns } from '../../model/line.js'
import type { Db } from '../../store/store.js'
import type { Walk } from '../../store/walk.js'
import { completeLists, type Row, rowsAtOnce, SHORT_ROWS, walked } from './rows.js'

/** A resource as a flat table, for spreadsheets and notebooks: typed values, null for what the portal does not know. */
export interface Table {
  columns: readonly string[]
  /** All rows, some at a time. */
  rows(db: Db): AsyncGenerator<Row[]>
}

const classement: Table = {
  columns: ['place', 'id_auteur', 'nom', 'score', 'groupe'],
  rows(db) {
    const place = placesInTurn()
    const where = { ...CLASSEMENT_WALK, columns: `${CLASSEMENT_WALK.columns}, groupe`, rows: SHORT_ROWS }
    return walked(db, where, undefined, ({ id_auteur, nom, score, date, groupe }) => ({
      ...{ place: place({ score: score as number, date: date as number }), id_auteur, nom, score },
      groupe: groupe || null,
    }))
  },
}

const groupes: Table = {
  columns: ['nom', 'nb_auteurs'],
  rows(db) {
    const key = ['nom_plie', 'groupe_cle']
    const where = {
      columns: [...key, 'nom', 'nb_auteurs'].join(),
      from: 'groupes',
      key,
      after: ['', ''],
      rows: SHORT_ROWS,
    }
    return walked(db, where, undefined, ({ nom, nb_auteurs }) => ({ nom, nb_auteurs }))
  },
}

/** Tables with columns of others. */
const joined: Readonly<Record<string, Pick<Walk, 'columns' | 'from' | 'key'>>> = {
  challenges: {
    columns: 'c.*, r.nom as rubrique',
    from: 'challenges c join rubriques r on r.id_rubrique = c.id_rubrique',
    key: ['c.id_challenge'],
  },
}

/** The tables by the names of their resources; the ranking and the groups come after what they follow from. */
export const tables: ReadonlyMap<string, Table> = new Map(
  REPORTED_KINDS.flatMap((kind): [string, Table][] => {
    const own: [string, Table][] = kind.flat ? [[kind.table, flatTable(kind, kind.flat)]] : []
    return kind.table === 'validations' ? [...own, ['classement', classement], ['groupes', groupes]] : own
  }),
)

export const RESSOURCES: readonly string[] = [...tables.keys()]

function flatTable(kind: Kind, columns: readonly string[]): Table {
  const { table, key } = kind
  const where = { columns: '*', from: table, key, after: key.map(() => 0), rows: rowsAtOnce(kind), ...joined[table] }
  return {
    columns,
    rows: (db) => walked(db, where, completeLists(kind), (row) => showColumns(kind, columns, row)),
  }
}
