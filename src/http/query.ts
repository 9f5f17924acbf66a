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
      if (parameter.maxValues === undefined) readOne(name, parameter, query, parsed, bounds)
      else readMany(name, parameter, parameter.maxValues, query, parsed, bounds)
    } catch (error) {
      if (!(error instanceof ParameterError)) throw error
      errors.push({ parameter: name, message: error.message })
    }
  }
  if (errors.length > 0) throw toProblem(errors)
  return parsed
}

/** Names that a header carries, and how much of each, in code points: they are a stranger's. */
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

function readOne(
  name: string,
  parameter: Parameter<unknown>,
  query: RawQuery,
  parsed: ParsedQuery,
  bounds: Bounds,
): void {
  const values = query.get(name)
  const value = values?.[0]
  if (values === undefined || value === undefined) return
  if (values.some((other) => other !== value)) throw new ParameterError('was given twice with different values')
  if (value === '' && parameter.emptyIsAbsent) return
  parsed.values[name] = parameter.parse(value, bounds)
  parsed.kept.push([name, value])
}

function readMany(
  name: string,
  parameter: Parameter<unknown>,
  max: number,
  query: RawQuery,
  parsed: ParsedQuery,
  bounds: Bounds,
): void {
  const found: string[] = []
  for (const [sent, values] of query) {
    if (isListName(name, sent)) found.push(...values.filter((value) => value !== ''))
  }
  if (found.length === 0) return
  if (found.length > max) throw new ParameterError(`takes at most ${max} values, not ${found.length}`)
  parsed.values[name] = found.map((value) => parameter.parse(value, bounds))
  for (const value of found) parsed.kept.push([name, value])
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

function toProblem(errors: FieldError[]): Problem {
  return new Problem('invalid_parameter', {
    detail: `${errors.map((error) => `${error.parameter} ${error.message}`).join('; ')}.`,
    errors,
  })
}
