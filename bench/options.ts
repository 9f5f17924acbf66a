import { parseArgs } from 'node:util'
import { ENGINES, type Engine } from './databases.js'
import { KINDS } from './kinds.js'
import { FULL, type Pace, QUICK } from './pace.js'
import { READ_KINDS } from './reads.js'

/** Measurements other than kinds of requests. */
const SUBJECTS = ['solves', 'visibility', 'start', 'memory', 'workers', 'import', 'import-reads', 'rankings'] as const
export type Subject = (typeof SUBJECTS)[number]

const NAMES: readonly string[] = [...KINDS, ...READ_KINDS].map(({ name }) => name).concat(SUBJECTS)
const FULL_AUTHORS = '10000'
const QUICK_AUTHORS = '2000,6000'

const USAGE = `npm run bench -- [options]
  --quick            fewer and shorter rounds: to check the tables, not for valid numbers
  --authors <list>   sizes of the portal, comma-separated, ascending (${FULL_AUTHORS}; ${QUICK_AUTHORS} with --quick)
  --engine <list>    engines of the store, comma-separated: ${ENGINES.join(', ')} (sqlite)
  --workers <n>      worker processes of Palmarès (1)
  --by-date          break ties by date (the setting departage); not with fresh-, whose baseline shares places
  --only <list>      what to measure, comma-separated; a name that ends in - selects all names with this prefix:
                     ${KINDS.map(({ name }) => name).join(', ')},
                     ${READ_KINDS.map(({ name }) => name).join(', ')},
                     ${SUBJECTS.join(', ')}
  --json <file>      write all results as JSON
  --write            write the tables to bench/RESULTS.md`

export interface Options {
  pace: Pace
  authors: number[]
  engines: Engine[]
  workers: number
  /** Whether dates break ties. */
  byDate: boolean
  /** Whether a kind or a subject is selected. */
  wants(name: string): boolean
  json: string | undefined
  write: boolean
}

/** Parses the command line; throws if it is invalid. Undefined if it only asks for help. */
export function readOptions(args: string[]): Options | undefined {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      authors: { type: 'string' },
      engine: { type: 'string', default: 'sqlite' },
      workers: { type: 'string', default: '1' },
      'by-date': { type: 'boolean', default: false },
      only: { type: 'string' },
      json: { type: 'string' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(USAGE)
    return undefined
  }
  const authors = (values.authors ?? (values.quick ? QUICK_AUTHORS : FULL_AUTHORS)).split(',').map(Number)
  if (!authors.every((size, i) => Number.isInteger(size) && size >= 1000 && size > (authors[i - 1] ?? 0)))
    throw new Error('--authors takes integers from 1000 on, ascending')
  const engines = values.engine.split(',').map((name) => known(name))
  const workers = Number(values.workers)
  if (!Number.isInteger(workers) || workers < 1) throw new Error('--workers takes an integer from 1 on')
  const only = values.only?.split(',').flatMap(namesOf)
  const wants = (name: string) => !only || only.includes(name)
  const { json, write } = values
  return { pace: values.quick ? QUICK : FULL, authors, engines, workers, byDate: values['by-date'], wants, json, write }
}

function namesOf(text: string): readonly string[] {
  const names = NAMES.filter((name) => name === text || (text.endsWith('-') && name.startsWith(text)))
  if (names.length === 0) throw new Error(`--only takes ${NAMES.join(', ')}, not ${text}`)
  return names
}

function known(name: string): Engine {
  const engine = ENGINES.find((each) => each === name)
  if (!engine) throw new Error(`--engine takes ${ENGINES.join(', ')}, not ${name}`)
  return engine
}
