import type { IncomingHttpHeaders } from 'node:http'
import Type, { type TSchema } from 'typebox'
import { Check } from 'typebox/value'
import { IdText } from '../contract.js'
import { isRequired } from '../model/line.js'
import { Id } from '../parameters.js'
import { storedUrl } from './portal-address.js'
import { idOf, known, Maybe, rowOfLink, shaped, textOf, throwIfAnother } from './shape.js'
import {
  type AuteurRead,
  type ChallengeRead,
  type Fields,
  idFieldOf,
  kindOfNoun,
  type Listed,
  NOUNS,
  type Noun,
  type Place,
  type Source,
} from './source.js'

const PAGE_ROWS = 500

/** The fields that are copied. Those in `Maybe` may be unknown. */
const Text = Maybe(Type.String())
const Rubriques = Type.Array(Type.Object({ id_rubrique: Id, nom: Type.String() }))
const ListOfAuteurs = Type.Record(Type.String({ pattern: '^(0|[1-9][0-9]*)$' }), Type.Object({ id_auteur: IdText }))

/** What the details of challenges and authors contain besides the fields of the record. */
const OfChallenge = Type.Object({
  rubrique: Text,
  auteurs: Maybe(Type.Array(Type.Object({ id_auteur: IdText, nom: Type.String() }))),
})
const OfAuteur = Type.Object({ validations: Maybe(Type.Array(Type.Object({ id_challenge: Id, date: Text }))) })

const details = new Map(NOUNS.map((noun) => [noun, detailOf(noun)]))

/** The fields of a record in its detail, and their shape there. */
function detailOf(noun: Noun) {
  const { key, fields } = kindOfNoun(noun)
  const told = Object.entries(fields).filter(([name, { wire }]) => wire && !key.includes(name))
  const shapes = told.map(([name, field]) => {
    const Shape = field.wire === 'text' ? Type.String() : Type.Integer({ minimum: 0 })
    return [name, isRequired(field) ? Shape : Maybe(Shape)]
  })
  const own = { [idFieldOf(noun)]: noun === 'auteurs' ? IdText : Id }
  return { fields: Object.fromEntries(told), shape: Type.Object({ ...own, ...Object.fromEntries(shapes) }) }
}

/** A record as a line has it, without its id. Throws `BadAnswer`, also for another record than the one asked for. */
function readFields(noun: Noun, id: number, at: Place, body: unknown): Fields {
  const { fields, shape } = details.get(noun)!
  const read = shaped(shape, at, body) as Record<string, string>
  const idField = idFieldOf(noun)
  throwIfAnother(id, idOf(read[idField]!, idField, at), at)
  return Object.fromEntries(
    Object.entries(fields).map(([name, { type }]) => [
      name,
      type === 'text' ? textOf(read[name]) : known(read[name], (value) => value),
    ]),
  )
}

const Problem = Type.Object({ code: Type.Literal('resource_not_found') })

/** The contract of docs/API.md. */
export function contractSource(portalUrl: string): Source {
  const toStored = storedUrl(portalUrl)
  return {
    dialect: 'contract',
    nouns: NOUNS,
    pageOf: (noun, debut) => `/${noun}?limite=${PAGE_ROWS}${debut === 0 ? '' : `&debut_${noun}=${debut}`}`,
    readPage(noun, debut, at, body, headers) {
      const total = headers['x-total-count']
      return {
        rows: rowsOf(noun, at, body),
        next: nextRow(noun, debut, at, headers),
        total: typeof total === 'string' && /^\d{1,15}$/.test(total) ? Number(total) : undefined,
      }
    },
    nextOf: (noun, debut, at, headers) =>
      headers.link === undefined ? undefined : { next: nextRow(noun, debut, at, headers) },
    rubriques: {
      path: '/rubriques',
      read: (at, body) => shaped(Rubriques, at, body).map(({ id_rubrique, nom }) => ({ id_rubrique, nom })),
    },
    readChallenge({ id }, at, body) {
      const fields = readFields('challenges', id, at, body) as ChallengeRead['fields']
      const { rubrique, auteurs } = shaped(OfChallenge, at, body)
      return {
        fields: { ...fields, url_challenge: toStored(String(fields.url_challenge), id) },
        rubrique: { id_rubrique: fields.id_rubrique, nom: textOf(rubrique) },
        auteurs: (known(auteurs, (rows) => rows) ?? []).map(({ id_auteur, nom }) => ({
          id_auteur: idOf(id_auteur, 'id_auteur', at),
          nom,
        })),
      }
    },
    readAuteur(id, at, body) {
      const fields = readFields('auteurs', id, at, body) as AuteurRead['fields']
      const { validations } = shaped(OfAuteur, at, body)
      return {
        fields,
        validations: (known(validations, (rows) => rows) ?? []).map(({ id_challenge, date }) => ({
          id_challenge,
          date: known(date, String),
        })),
      }
    },
    readPlain: readFields,
    isNothing: (body) => Check(Problem, body),
  }
}

function rowsOf(noun: Noun, at: Place, body: unknown): Listed[] {
  const field = idFieldOf(noun)
  const shape = noun === 'auteurs' ? ListOfAuteurs : Type.Array(Type.Object({ [field]: Id }))
  const rows = Object.values(shaped<TSchema>(shape, at, body) as object) as Record<string, string | number>[]
  return rows.map((row) => ({ id: idOf(row[field] as string | number, field, at), note: '' }))
}

/** The row of the link `next` (RFC 8288). */
function nextRow(noun: Noun, debut: number, at: Place, { link = '' }: IncomingHttpHeaders): number | undefined {
  const text = Array.isArray(link) ? link.join(',') : link
  for (const [, href, parameters] of text.matchAll(/<([^>]*)>([^<]*)/g)) {
    if (/;\s*rel\s*=\s*"?next"?\s*(,|;|$)/i.test(parameters as string)) {
      return rowOfLink(href as string, noun, debut, at)
    }
  }
  return undefined
}
