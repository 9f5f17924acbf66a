import { type FieldError, invalidParameter, Problem } from '../errors.js'
import { type Bounds, type Parameter, ParameterError, type Parameters } from '../parameters.js'

/** A query as it came: decoded names, each with its decoded values in order. */
export type RawQuery = Map<string, string[]>

export interface ParsedQuery {
  values: Record<string, unknown>
  /** What links keep: the known parameters that were sent and count, decoded, in the endpoint's order. */
  kept: [name: string, value: string][]
}

/** Gives the text of a name or a value, which belongs to a name. */
export type Decode = (part: string, rawName: string) => string

/**
 * Decodes the text after `?`. Throws a 400 that names the parameter whose percent-encoding or UTF-8 is broken, unless
 * `decode` takes those.
 */
export function decodeQuery(text: string, decode: Decode = decodePart): RawQuery {
  const query: RawQuery = new Map()
  for (const part of text.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const rawName = equals < 0 ? part : part.slice(0, equals)
    const name = decode(rawName, rawName)
    const value = equals < 0 ? '' : decode(part.slice(equals + 1), name)
    const values = query.get(name)
    if (values) values.push(value)
    else query.set(name, [value])
  }
  return query
}

/** Reads the parameters of an endpoint out of a query; a name that it does not know is ignored. */
export function parseQuery(parameters: Parameters, query: RawQuery, bounds: Bounds): ParsedQuery {
  const parsed: ParsedQuery = { values: {}, kept: [] }
  const errors: FieldError[] = []
  for (const [name, parameter] of Object.entries(parameters)) {
    try {
      const sent = sentFor(name, parameter, query)
      if (sent.length === 0) continue
      const values = itemsOf(parameter, sent).map((item) => parameter.parse(item, bounds))
      parsed.values[name] = parameter.maxValues === undefined ? values[0] : values
      for (const value of sent) parsed.kept.push([name, value])
    } catch (error) {
      if (!(error instanceof ParameterError)) throw error
      errors.push({ parameter: name, message: error.message })
    }
  }
  if (errors.length > 0) {
    const detail = `${errors.map((error) => `${error.parameter} ${error.message}`).join('; ')}.`
    throw new Problem('invalid_parameter', { detail, errors })
  }
  return parsed
}

/** The values sent for a parameter; none if it counts as absent. */
function sentFor(name: string, { maxValues, emptyIsAbsent }: Parameter<unknown>, query: RawQuery): string[] {
  if (maxValues === undefined) {
    const values = query.get(name) ?? []
    if (values.some((other) => other !== values[0])) throw new ParameterError('was given twice with different values')
    return values[0] === '' && emptyIsAbsent ? [] : values.slice(0, 1)
  }
  const values: string[] = []
  for (const [sent, each] of query) {
    if (isListName(name, sent)) values.push(...each.filter((value) => value !== ''))
  }
  return values
}

/** Commas separate the items of a list, within each of its values. */
function itemsOf({ maxValues }: Parameter<unknown>, sent: string[]): string[] {
  if (maxValues === undefined) return sent
  const items = sent.flatMap((value) => value.split(','))
  if (items.length > maxValues) throw new ParameterError(`takes at most ${maxValues} values, not ${items.length}`)
  return items
}

/** Limits for what a header repeats of a client's names. */
const MAX_IGNORED_NAMES = 10
const MAX_IGNORED_CODE_POINTS = 30

/**
 * The first names of a query that an endpoint does not know, each percent-encoded and joined by commas, as a header may
 * have them; undefined if it knows all.
 */
export function ignoredNames(parameters: Parameters, query: RawQuery): string | undefined {
  const ignored: string[] = []
  for (const name of query.keys()) {
    if (ignored.length >= MAX_IGNORED_NAMES) break
    if (name === '' || isKnown(parameters, name)) continue
    ignored.push(
      encodeURIComponent([...name.slice(0, 2 * MAX_IGNORED_CODE_POINTS)].slice(0, MAX_IGNORED_CODE_POINTS).join('')),
    )
  }
  return ignored.length > 0 ? ignored.join(', ') : undefined
}

function isKnown(parameters: Parameters, name: string): boolean {
  if (Object.hasOwn(parameters, name)) return true
  return Object.entries(parameters).some(([list, { maxValues }]) => maxValues !== undefined && isListName(list, name))
}

/** Reads the parameters of a path, as the router decoded them. */
export function parsePath(
  parameters: Parameters,
  path: Record<string, string>,
  bounds: Bounds,
): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, parameter] of Object.entries(parameters)) {
    try {
      values[name] = parameter.parse(path[name] ?? '', bounds)
    } catch (error) {
      if (!(error instanceof ParameterError)) throw error
      throw invalidParameter(name, error.message)
    }
  }
  return values
}

/** `id_auteur[]` may also be sent as `id_auteur` or `id_auteur[0]`. */
function isListName(name: string, sent: string): boolean {
  const base = name.slice(0, -2)
  return sent === name || sent === base || (sent.startsWith(base) && /^\[\d{1,9}\]$/.test(sent.slice(base.length)))
}

function decodePart(part: string, parameter: string): string {
  try {
    return decodeURIComponent(part.replace(/\+/g, ' '))
  } catch {
    throw invalidParameter(parameter.slice(0, 100), 'is not valid percent-encoded UTF-8')
  }
}
