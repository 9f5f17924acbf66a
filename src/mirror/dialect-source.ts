// Strict: `AT&T` and `a&copy` stay as they are.
import { decodeHTMLStrict as decoded } from 'entities'
import Type, { type Static, type TSchema } from 'typebox'
import { Check } from 'typebox/value'
import { formatInstant } from '../instant.js'
import { parseParis } from '../paris.js'
import { BadAnswer } from './errors.js'
import { storedUrl } from './portal-address.js'
import { idOf, known, Maybe, rowOfLink, shaped, textOf, throwIfAnother } from './shape.js'
import { idFieldOf, type ListPage, type Noun, type Place, type Source } from './source.js'

/** Scalars are texts; numbers are accepted too. */
const Scalar = Type.Union([Type.String(), Type.Number()])
const IdScalar = Type.Union([Type.String({ pattern: '^[1-9][0-9]*$' }), Type.Integer({ minimum: 1 })])
const Link = Type.Object({ rel: Type.String(), href: Type.String() })
/** An object keyed "0", "1", …; one without a key may come as an empty array. */
const Rows = <T extends TSchema>(row: T) =>
  Type.Union([Type.Record(Type.String({ pattern: '^[0-9]+$' }), row), Type.Array(row)])
const Envelope = <T extends TSchema>(payload: T) => Type.Tuple([payload], { additionalItems: Link })

/** The fields that are copied. Those in `Maybe` may be unknown. */
const Text = Maybe(Type.String())
const NamedAuteur = Type.Object({ id_auteur: IdScalar, nom: Type.String() })
const Challenge = Type.Object({
  titre: Type.String(),
  rubrique: Text,
  soustitre: Text,
  score: Scalar,
  id_rubrique: IdScalar,
  id_trad: Maybe(Scalar),
  url_challenge: Text,
  date_publication: Text,
  difficulte: Text,
  auteurs: Maybe(Rows(NamedAuteur)),
})

const Auteur = Type.Object({
  id_auteur: IdScalar,
  nom: Type.String(),
  statut: Text,
  score: Maybe(Scalar),
  validations: Maybe(Rows(Type.Object({ id_challenge: IdScalar, date: Text }))),
})

const Environnement = Type.Object({
  nom: Type.String(),
  description_fr: Text,
  description_en: Text,
  time_to_root: Maybe(Scalar),
  os: Text,
})

const Nothing = Type.Tuple([
  Type.Object({ error: Type.Object({ code: Type.Union([Type.Literal(404), Type.Literal('404')]) }) }),
])

/** The older envelope, which has no descriptions, no languages of authors, and local times. */
export function dialectSource(portalUrl: string): Source {
  const toStored = storedUrl(portalUrl)
  return {
    dialect: 'dialect',
    nouns: ['challenges', 'auteurs', 'environnements_virtuels'],
    pageOf: (noun, debut) => (debut === 0 ? `/${noun}` : `/${noun}?debut_${noun}=${debut}`),
    readPage,
    nextOf: () => undefined,
    readChallenge({ id, note }, at, body) {
      const read = shaped(Challenge, at, payloadOf(body, at))
      const id_rubrique = idOf(read.id_rubrique, 'id_rubrique', at)
      const { difficulte } = read
      return {
        fields: {
          ...{ id_rubrique, titre: decoded(read.titre), soustitre: decoded(textOf(read.soustitre)), lang: note },
          ...{ score: wholeOf(read.score, 'score', at) ?? 0, difficulte },
          // 0 or empty without a translation.
          id_trad: wholeOf(read.id_trad, 'id_trad', at) || null,
          url_challenge: toStored(textOf(read.url_challenge), id),
          date_publication: dateOf(read.date_publication, 'date_publication', at),
        },
        rubrique: { id_rubrique, nom: decoded(textOf(read.rubrique)) },
        auteurs: rowsOf(read.auteurs).map(({ id_auteur, nom }) => ({
          id_auteur: idOf(id_auteur, 'id_auteur', at),
          nom,
        })),
      }
    },
    readAuteur(id, at, body) {
      const read = shaped(Auteur, at, Array.isArray(body) ? payloadOf(body, at) : body)
      throwIfAnother(id, idOf(read.id_auteur, 'id_auteur', at), at)
      const { nom, statut, validations } = read
      return {
        fields: { nom, statut: textOf(statut), lang: '', score: wholeOf(read.score, 'score', at) },
        validations: rowsOf(validations).map(({ id_challenge, date }) => ({
          id_challenge: idOf(id_challenge, 'id_challenge', at),
          date: dateOf(date, 'date', at),
        })),
      }
    },
    readPlain(_noun, _id, at, body) {
      const read = shaped(Environnement, at, Array.isArray(body) ? payloadOf(body, at) : body)
      const { nom, os, description_fr, description_en, time_to_root } = read
      return { nom, os, description_fr, description_en, time_to_root: wholeOf(time_to_root, 'time_to_root', at) }
    },
    isNothing: (body) => Check(Nothing, body),
  }
}

function readPage(noun: Noun, debut: number, at: Place, body: unknown): ListPage {
  const id = idFieldOf(noun)
  const row = Type.Object({ [id]: IdScalar, ...(noun === 'challenges' ? { lang: Text } : {}) })
  const [payload, ...links] = shaped(Envelope(Rows(row)), at, body) as [object, ...Static<typeof Link>[]]
  const rows = Object.values(payload) as Record<string, string | number | null>[]
  const next = links.find(({ rel }) => rel === 'next')
  return {
    rows: rows.map((row) => ({ id: idOf(row[id] as string | number, id, at), note: String(row.lang ?? '') })),
    next: next && rowOfLink(next.href, noun, debut, at),
    total: undefined,
  }
}

function payloadOf(body: unknown, { path }: Place): unknown {
  if (!Array.isArray(body) || body.length === 0) throw new BadAnswer(`${path}: the body must be a list with a payload`)
  return body[0]
}

/** The rows of a list inside a record; none where it is unknown. */
function rowsOf<Row>(rows: Record<string, Row> | Row[] | '' | null | undefined): Row[] {
  return known(rows, (each) => Object.values(each)) ?? []
}

function wholeOf(scalar: string | number | null | undefined, field: string, { path }: Place): number | null {
  if (scalar === '' || scalar === null || scalar === undefined) return null
  if (!/^\d{1,16}$/.test(String(scalar))) throw new BadAnswer(`${path}: ${field} must be a whole number`)
  return Number(scalar)
}

function dateOf(text: string | null | undefined, field: string, { path }: Place): string | null {
  if (!text || text.startsWith('0000-00-00')) return null
  const seconds = parseParis(text)
  if (seconds === undefined)
    throw new BadAnswer(`${path}: ${field} must be a date and time such as 2026-01-31 13:00:00`)
  return formatInstant(seconds)
}
