import { cpus } from 'node:os'
import type { Comparison, Measured } from './compare.js'
import type { Finding, Unit } from './findings.js'
import type { PortalFacts } from './portal.js'
import type { ReadRow } from './scale.js'
import type { Spread } from './statistics.js'
import { count, megabytes, table } from './table.js'

/** One portal, measured. */
export interface PortalReport {
  authors: number
  portal: PortalFacts
  /** Memory of the serving processes at the end, if the system reports it. */
  servingBytes: number | undefined
  comparisons: Comparison[]
}

/** Results of one engine: per portal, then across portals. */
export interface EngineReport {
  engine: string
  workers: number
  portals: PortalReport[]
  reads: ReadRow[]
  findings: Finding[]
}

export interface Report {
  machine: string
  date: string
  command: string
  /** Maximum rate of the load generator. */
  ceiling: Measured
  engines: EngineReport[]
}

export function machineName(): string {
  const processors = cpus()
  return `${processors[0]?.model.trim() ?? 'unknown processor'}, ${processors.length} cores, Node.js ${process.version}`
}

/** Whether a measurement failed. */
export function hasFaults({ engines }: Report): boolean {
  return engines.some(
    ({ reads, findings }) => reads.some(({ fault }) => fault) || findings.some(({ value }) => value === undefined),
  )
}

/** The whole report as Markdown, which also reads well on a terminal. */
export function toMarkdown({ machine, date, command, ceiling, engines }: Report): string {
  return [
    `- machine: ${machine}`,
    `- date: ${date}`,
    `- command: \`${command}\``,
    `- load generator: at most ${count(ceiling.requestsPerSecond)} requests/s, against a server that speaks no HTTP`,
    '',
    ...engines.flatMap(engineLines),
  ].join('\n')
}

function engineLines(report: EngineReport): string[] {
  const { engine, workers, portals, reads, findings } = report
  const named = `${engine}${workers > 1 ? `, ${workers} workers` : ''}`
  const section = (title: string, lines: string[]) =>
    lines.length > 0 ? [`## ${title}, ${named}`, '', ...lines, ''] : []
  return [
    ...portals.flatMap((portal) => section(`${count(portal.authors)} authors`, portalLines(portal))),
    ...section('Reads by size', reads.length > 0 ? table(READ_HEAD, reads.map(readCells), [0]) : []),
    ...section('Targets', findings.length > 0 ? table(FINDING_HEAD, findings.map(findingCells), [0, 3]) : []),
  ]
}

function portalLines({ portal, servingBytes, comparisons }: PortalReport): string[] {
  const footprint = [
    `Disk ${megabytes(portal.diskBytes)}`,
    // Values that the system does not report are omitted.
    ...(portal.importPeakBytes ? [`import peak ${megabytes(portal.importPeakBytes)}`] : []),
    ...(servingBytes ? [`serving ${megabytes(servingBytes)} resident`] : []),
  ]
  return [
    ...(comparisons.length > 0 ? [...table(PAIR_HEAD, comparisons.map(comparisonCells), [0, 1]), ''] : []),
    `Import ${count(portal.importLinesPerSecond)} lines/s, export ${count(portal.exportLinesPerSecond)} lines/s ` +
      `(${count(portal.lines)} lines, start of the process included).`,
    `${footprint.join(', ')}.`,
  ]
}

const PAIR_HEAD = [
  'kind',
  'against',
  'palmares req/s',
  'baseline req/s',
  'ratio (min–max)',
  'target',
  'p50/p99 ms',
  'baseline p50/p99 ms',
  'load busy',
]

function comparisonCells({ kind, palmares, baseline, ratio }: Comparison): string[] {
  return [
    kind.name,
    kind.against,
    count(palmares.requestsPerSecond),
    count(baseline.requestsPerSecond),
    spread(ratio),
    `${kind.target.toFixed(2)}${ratio.median >= kind.target ? '' : MISSED}`,
    latency(palmares),
    latency(baseline),
    `${Math.round(100 * Math.max(palmares.loadBusy, baseline.loadBusy))} %`,
  ]
}

const READ_HEAD = ['kind', 'authors', 'p50 ms', 'over the smallest', 'target', 'p99 ms', 'over the smallest', 'target']

function readCells({ kind, authors, fault, ...row }: ReadRow): string[] {
  if (fault) return [kind.name, count(authors), `not measured: ${fault}`, '', MISSED, '', '', MISSED]
  const { p50Milliseconds, p99Milliseconds, p50Ratio, p99Ratio } = row
  return [
    kind.name,
    count(authors),
    p50Milliseconds.toFixed(2),
    p50Ratio ? spread(p50Ratio) : '',
    p50Ratio && kind.medianRatio ? most(p50Ratio.median, kind.medianRatio) : '',
    p99Milliseconds.toFixed(2),
    p99Ratio ? spread(p99Ratio) : '',
    kind.p99Milliseconds
      ? most(p99Milliseconds, kind.p99Milliseconds, ' ms')
      : p99Ratio && kind.p99Ratio
        ? most(p99Ratio.median, kind.p99Ratio)
        : '',
  ]
}

const FINDING_HEAD = ['what', 'measured', 'target', 'absolute figures']

function findingCells({ what, value, unit, least, most: greatest, beside }: Finding): string[] {
  if (value === undefined) return [what, '', MISSED.trim(), beside]
  const target =
    least !== undefined
      ? `at least ${inUnit(least, unit)}${value >= least ? '' : MISSED}`
      : greatest !== undefined
        ? `at most ${inUnit(greatest, unit)}${value <= greatest ? '' : MISSED}`
        : ''
  return [what, inUnit(value, unit), target, beside]
}

function inUnit(value: number, unit: Unit): string {
  if (unit === 'bytes') return `${count(value / 1024 ** 2)} MiB`
  return unit === 'ratio' ? value.toFixed(2) : `${value.toFixed(2)} ${unit}`
}

const MISSED = ' missed'

function most(value: number, limit: number, unit = ''): string {
  return `${limit.toFixed(unit ? 0 : 2)}${unit}${value <= limit ? '' : MISSED}`
}

function spread({ median, min, max }: Spread): string {
  return `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`
}

function latency({ p50Milliseconds, p99Milliseconds }: Measured): string {
  return `${p50Milliseconds.toFixed(2)}/${p99Milliseconds.toFixed(2)}`
}
