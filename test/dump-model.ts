import type { DumpLine } from './harness.js'

/**
 * The semantics of the dump, restated by brute force on plain maps: what a store must contain after any sequence of
 * imports. Lines must be normalised: every field of `fields` present, dates in UTC seconds.
 */
export interface Model {
  rubriques: Map<number, DumpLine>
  auteurs: Map<number, DumpLine & { base: number }>
  challenges: Map<number, DumpLine & { auteurs: number[]; score: number }>
  validations: Map<string, DumpLine>
  environnements: Map<number, DumpLine>
  comptes: Map<string, DumpLine & { cles: Cle[] }>
  /** Validations that are not shown. */
  gelees: Map<string, DumpLine>
  /** The setting `gel`, in UTC. */
  gel: string | undefined
}

export type Cle = { id: number; empreinte: string } & DumpLine

type Table = Exclude<keyof Model, 'gelees' | 'gel'>

/** The table of each type, the key of a record, and the fields of its lines in the order of an export. */
const kinds: Record<string, { table: Table; key: string[]; fields: string[] }> = {
  rubrique: { table: 'rubriques', key: ['id_rubrique'], fields: ['id_rubrique', 'nom'] },
  auteur: {
    table: 'auteurs',
    key: ['id_auteur'],
    fields: ['id_auteur', 'nom', 'statut', 'lang', 'groupe', 'date_score'],
  },
  challenge: {
    table: 'challenges',
    key: ['id_challenge'],
    fields: [
      ...['id_challenge', 'id_rubrique', 'titre', 'soustitre', 'descriptif', 'lang', 'score', 'difficulte', 'id_trad'],
      ...['url_challenge', 'date_publication', 'auteurs'],
    ],
  },
  validation: {
    table: 'validations',
    key: ['id_auteur', 'id_challenge'],
    fields: ['id_auteur', 'id_challenge', 'date'],
  },
  environnement_virtuel: {
    table: 'environnements',
    key: ['id_environnement_virtuel'],
    fields: [
      ...['id_environnement_virtuel', 'nom', 'os', 'statut', 'lang', 'description_fr', 'description_en'],
      'time_to_root',
    ],
  },
  compte: {
    table: 'comptes',
    key: ['login'],
    fields: ['login', 'id_auteur', 'mot_de_passe', 'operateur', 'desactive', 'creation', 'cles'],
  },
}

export function emptyModel(): Model {
  return {
    rubriques: new Map(),
    auteurs: new Map(),
    challenges: new Map(),
    validations: new Map(),
    environnements: new Map(),
    comptes: new Map(),
    gelees: new Map(),
    gel: undefined,
  }
}

/** The model after an import, or undefined if the import is refused. */
export function importIntoModel(
  before: Model,
  lines: readonly DumpLine[],
  {
    replace = false,
    withAccounts = false,
    removeOperators = false,
  }: { replace?: boolean; withAccounts?: boolean; removeOperators?: boolean },
): Model | undefined {
  const named = new Map<string, { line: DumpLine; key: string | number }>()
  for (const line of lines) {
    if (line.type === 'compte' && !withAccounts) return undefined
    if (line.partiel === true) return undefined
    if (line.gelee === true && line.supprime !== true && before.gel === undefined) return undefined
    const id = `${line.type} ${JSON.stringify(keyOf(line))}`
    const known = named.get(id)
    if (known && meaningOf(known.line) !== meaningOf(line)) return undefined
    if (!known) named.set(id, { line, key: keyOf(line) })
  }
  const model = structuredClone(before)
  const all = [...named.values()]
  const put = all.filter(({ line }) => line.supprime !== true)

  for (const { line, key } of all) {
    if (line.supprime !== true) continue
    removeFrom(model, kindOf(line).table, key)
    if (line.type === 'validation') model.gelees.delete(key as string)
  }
  if (replace) {
    for (const { table } of Object.values(kinds)) {
      if (table === 'comptes' && !withAccounts) continue
      const kept = new Set(put.filter(({ line }) => kindOf(line).table === table).map(({ key }) => key))
      for (const key of [...model[table].keys()]) if (!kept.has(key)) removeFrom(model, table, key)
    }
    const kept = new Set(put.filter(({ line }) => line.type === 'validation').map(({ key }) => key))
    for (const key of [...model.gelees.keys()]) if (!kept.has(key)) model.gelees.delete(key)
  }
  const empreintes = put.flatMap(({ line }) => ((line.cles as Cle[]) ?? []).map(({ empreinte }) => empreinte))
  if (new Set(empreintes).size < empreintes.length) return undefined
  for (const compte of model.comptes.values()) {
    compte.cles = compte.cles.filter(({ empreinte }) => !empreintes.includes(empreinte))
  }
  for (const { line, key } of put) {
    const record = { ...recordOf(line) } as never
    if (line.type === 'validation') {
      if (!hasRecords(model, line)) return undefined
      if (isLate(model, line)) {
        if (!model.validations.has(key as string)) model.gelees.set(key as string, record)
        continue
      }
      model.gelees.delete(key as string)
    }
    ;(model[kindOf(line).table] as Map<unknown, unknown>).set(key, record)
  }
  for (const { line } of put) {
    if (line.type !== 'auteur') continue
    const points = pointsOf(model, line.id_auteur as number)
    const wanted = line.score === undefined ? 0 : (line.score as number) - points
    model.auteurs.get(line.id_auteur as number)!.base = (line.score_base as number | undefined) ?? wanted
  }
  if (!removeOperators && hasOperator(before) && !hasOperator(model)) return undefined
  return isSound(model) && isExact(model) ? model : undefined
}

function hasOperator({ comptes }: Model): boolean {
  return [...comptes.values()].some(({ operateur, desactive }) => operateur === true && desactive !== true)
}

const LIVE_TYPES = ['rubrique', 'auteur', 'challenge', 'validation']

/**
 * The model after one live line, or undefined if it is refused. A live line does what an import of it alone would, except
 * that a partial line changes only the fields it names, a date is never erased, and no account is removed.
 */
export function ingestIntoModel(before: Model, line: DumpLine): Model | undefined {
  if (!LIVE_TYPES.includes(line.type as string)) return undefined
  const shown = (before[kindOf(line).table] as Map<unknown, DumpLine>).get(keyOf(line))
  const known = shown ?? (line.type === 'validation' ? before.gelees.get(keyOf(line) as string) : undefined)
  if (line.supprime === true) {
    const hasAccount = [...before.comptes.values()].some(({ id_auteur }) => id_auteur === line.id_auteur)
    if (line.partiel === true || (line.type === 'auteur' && hasAccount)) return undefined
    return importIntoModel(before, [line], {})
  }
  if (line.partiel === true && !known) return undefined
  const isUndated = line.type === 'validation' && (line.date ?? undefined) === undefined
  const staysFrozen = isUndated && known !== undefined && !shown
  const whole = { ...(line.partiel === true ? completed(known!, line) : line), ...(staysFrozen && { gelee: true }) }
  return importIntoModel(before, [isUndated && known ? { ...whole, date: known.date } : whole], {})
}

/** What a live line is answered with. */
export function resultOf(before: Model, line: DumpLine, after: Model | undefined): string {
  if (!after) return 'refusee'
  const isFrozen = line.type === 'validation' && line.supprime !== true && after.gelees.has(keyOf(line) as string)
  if (isFrozen) return 'gelee'
  return isSame(before, after) ? 'connue' : 'appliquee'
}

/** Whether two models are the same, whatever is frozen in them; or with what is frozen. */
export function isSame(one: Model, other: Model, withGelees = true): boolean {
  const text = (model: Model) => {
    const frozen = withGelees ? [...model.gelees].sort(([a], [b]) => (a < b ? -1 : 1)) : []
    return JSON.stringify([exportModel(model, { withAccounts: true }), frozen])
  }
  return text(one) === text(other)
}

/** The model after a change of the setting `gel`, and the keys that could not be applied. */
export function freezeModel(before: Model, gel: string | undefined): { model: Model; refused: string[] } {
  const model = { ...structuredClone(before), gel }
  const refused: string[] = []
  if (before.gel === undefined || (gel !== undefined && gel <= before.gel)) return { model, refused }
  const orderOf = ({ date, id_auteur, id_challenge }: DumpLine) =>
    [date ?? '9999-99', String(id_auteur).padStart(16, '0'), String(id_challenge).padStart(16, '0')].join()
  const frozen = [...model.gelees].sort(([, a], [, b]) => (orderOf(a) < orderOf(b) ? -1 : 1))
  for (const [key, record] of frozen) {
    if (gel !== undefined && ((record.date ?? undefined) === undefined || (record.date as string) > gel)) continue
    model.validations.set(key, record)
    if (hasRecords(model, record) && isExact(model)) model.gelees.delete(key)
    else {
      model.validations.delete(key)
      refused.push(key)
    }
  }
  if (gel === undefined) model.gelees.clear()
  return { model, refused }
}

function isLate({ gel }: Model, { date, gelee }: DumpLine): boolean {
  return gel !== undefined && (gelee === true || (date ?? undefined) === undefined || (date as string) > gel)
}

function hasRecords({ auteurs, challenges }: Model, { id_auteur, id_challenge }: DumpLine): boolean {
  return auteurs.has(id_auteur as number) && challenges.has(id_challenge as number)
}

/** The whole line with the same effect as a partial one: null makes a field unknown, as omitting it does in a whole line. */
function completed({ base, ...known }: DumpLine, { partiel: _, ...line }: DumpLine): DumpLine {
  const named = Object.entries(line).filter(([, value]) => value !== undefined)
  const setsBase = named.some(([name]) => name === 'score' || name === 'score_base')
  const kept = line.type === 'auteur' && !setsBase ? { score_base: base } : {}
  return { ...known, ...kept, ...Object.fromEntries(named.map(([name, value]) => [name, value ?? undefined])) }
}

/** What `export` must write, line by line. */
export function exportModel(
  model: Model,
  { withAccounts, withGelees = false }: { withAccounts: boolean; withGelees?: boolean },
): DumpLine[] {
  const types = Object.keys(kinds).filter((type) => type !== 'compte' || withAccounts)
  const recordsOf = (type: string): DumpLine[] => {
    const shown = [...(model[kinds[type]!.table] as Map<unknown, DumpLine>).values()].sort(byKey(type))
    if (type !== 'validation' || !withGelees) return shown
    const frozen = [...model.gelees.values()].filter((record) => hasRecords(model, record)).sort(byKey(type))
    return [...shown, ...frozen.map((record) => ({ ...record, gelee: true }))]
  }
  return types.flatMap((type) =>
    recordsOf(type).map((record) => {
      const line: DumpLine = { type, ...record }
      if (type === 'auteur') {
        const base = line.base as number
        line.score = scoreOf(model, record.id_auteur as number)
        if (base + pointsOf(model, record.id_auteur as number) < 0) line.score_base = base
        delete line.base
      }
      return Object.fromEntries(Object.entries(line).filter(([, value]) => value !== undefined && value !== ''))
    }),
  )
}

export function scoreOf(model: Model, idAuteur: number): number {
  return Math.max(0, model.auteurs.get(idAuteur)!.base + pointsOf(model, idAuteur))
}

/** When an author reached their score, in seconds; the year 10000 if no date is known. */
export function reachedBy(model: Model, idAuteur: number): number {
  const isWorth = (id: unknown) => (model.challenges.get(id as number)?.score ?? 0) > 0
  const solved = [...model.validations.values()].filter(
    (line) => line.id_auteur === idAuteur && isWorth(line.id_challenge),
  )
  const dates = [model.auteurs.get(idAuteur)!, ...solved].flatMap((line) => [line.date_score ?? line.date ?? []].flat())
  return dates.length === 0 ? 253_402_300_800 : Math.max(...dates.map((date) => Date.parse(date as string) / 1_000))
}

function pointsOf(model: Model, idAuteur: number): number {
  const solved = [...model.validations.values()].filter((validation) => validation.id_auteur === idAuteur)
  return solved.reduce((sum, { id_challenge }) => sum + (model.challenges.get(id_challenge as number)?.score ?? 0), 0)
}

function removeFrom(model: Model, table: Table, key: string | number): void {
  ;(model[table] as Map<unknown, unknown>).delete(key)
  if (table === 'auteurs' || table === 'challenges') {
    const column = table === 'auteurs' ? 'id_auteur' : 'id_challenge'
    for (const [id, validation] of model.validations) if (validation[column] === key) model.validations.delete(id)
  }
  if (table === 'auteurs') {
    for (const [login, compte] of model.comptes) if (compte.id_auteur === key) model.comptes.delete(login)
    for (const challenge of model.challenges.values()) challenge.auteurs = challenge.auteurs.filter((id) => id !== key)
  }
}

/** Whether every reference resolves. */
function isSound({ rubriques, auteurs, challenges, validations, comptes }: Model): boolean {
  return (
    [...challenges.values()].every(
      (line) => rubriques.has(line.id_rubrique as number) && line.auteurs.every((id) => auteurs.has(id)),
    ) &&
    [...validations.values()].every(
      (line) => auteurs.has(line.id_auteur as number) && challenges.has(line.id_challenge as number),
    ) &&
    [...comptes.values()].every((line) => auteurs.has(line.id_auteur as number))
  )
}

/** Whether JSON represents the points of every author exactly, with the base and without. */
function isExact(model: Model): boolean {
  return [...model.auteurs].every(([id, { base }]) => {
    const points = pointsOf(model, id)
    return Math.max(points, base + points) <= Number.MAX_SAFE_INTEGER
  })
}

function kindOf(line: DumpLine) {
  return kinds[line.type as string]!
}

function keyOf(line: DumpLine): string | number {
  const values = kindOf(line).key.map((name) => line[name])
  return values.length === 1 ? (values[0] as number) : values.join(' ')
}

function recordOf(line: DumpLine): DumpLine {
  const record: DumpLine = {}
  for (const name of kindOf(line).fields) record[name] = line[name]
  if (line.type === 'challenge') record.auteurs = [...new Set(line.auteurs as number[])].sort((a, b) => a - b)
  if (line.type === 'compte') record.cles = [...(line.cles as Cle[])].sort((a, b) => a.id - b.id)
  return record
}

/** What two lines about one record must have in common to count as one. */
function meaningOf(line: DumpLine): string {
  if (line.supprime === true) return 'supprime'
  const { score, score_base } = line
  return JSON.stringify([recordOf(line), line.type === 'auteur' ? [score, score_base] : [], line.gelee === true])
}

function byKey(type: string): (a: DumpLine, b: DumpLine) => number {
  return (a, b) => {
    for (const name of kinds[type]!.key) {
      const [left, right] = [a[name] as number | string, b[name] as number | string]
      if (left !== right) return left < right ? -1 : 1
    }
    return 0
  }
}
