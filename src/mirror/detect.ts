import Type from 'typebox'
import { Check } from 'typebox/value'
import { jsonIn, refusal } from './shape.js'
import type { Dialect } from './source.js'
import type { Answer } from './transport.js'

/** The ranking shows which convention a portal speaks: both have it. */
export const PROBE_PATH = '/classement?limite=1'

const Ranked = Type.Array(Type.Object({ id_auteur: Type.Unknown(), nom: Type.Unknown() }))
const DialectError = Type.Tuple([Type.Object({ error: Type.Object({}) })])
const DialectRows = Type.Record(
  Type.String({ pattern: '^[0-9]+$' }),
  Type.Object({ id_auteur: Type.Unknown(), nom: Type.Unknown() }),
  { additionalProperties: false },
)
const DialectRanked = Type.Tuple([DialectRows], { additionalItems: Type.Object({ rel: Type.String() }) })

/** The convention of an answer to the probe. Throws a `MirrorError` that describes any other answer. */
export function dialectOf(answer: Answer): Dialect {
  const body = jsonIn(answer)
  const isDialectError = Check(DialectError, body)
  // An empty list is a 404 there.
  if (answer.status === 404 && isDialectError) return 'dialect'
  if (answer.status !== 200) throw refusal(answer, body)
  // An empty ranking is the same in both but for its version.
  const isEmpty = Array.isArray(body) && body.length === 0
  if (isEmpty ? answer.headers['api-version'] !== undefined : Check(Ranked, body)) return 'contract'
  if (Check(DialectRanked, body)) return 'dialect'
  const error = refusal(answer, undefined)
  error.message += ', but neither the ranking of the contract nor that of the dialect; is this the address of its API?'
  throw error
}
