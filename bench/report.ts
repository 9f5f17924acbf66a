import { cpus } from 'node:os'
import type { Comparison, Measured } from './compare.js'
import type { PortalFacts } from './portal.js'

/** One portal, measured. */
export interface PortalReport {
  engine: string
  authors: number
  workers: number
  portal: PortalFacts
  /** What the processes that serve hold in memory at the end, where the system tells it. */
  servingBytes: number | undefined
  comparisons: Comparison[]
}

export interface Report {
  machine: string
  date: string
  command: string
  /** The most that the load generator can drive. */
  ceiling: Measured
  portals: PortalReport[]
}

export function machineName(): string {
  const processors = cpus()
  return `${processors[0]?.model.trim() ?? 'unknown processor'}, ${processors.length} cores, Node.js ${process.version}`
}

/** The whole report as Markdown, which also reads well on a terminal. */
export function toMarkdown({ machine, date, command, ceiling, portals }: Report): string {
  return [
    `- machine: ${machine}`,
    `- date: ${date}`,
    `- command: \`${command}\``,
    `- load generator: at most ${count(ceiling.requestsPerSecond)} requests/s, against a server that speaks no HTTP`,
    '',
    ...portals.flatMap(portalLines),
  ].join('\n')
}

function portalLines(report: PortalReport): string[] {
  const { engine, authors, workers, portal } = report
  const rows = report.comparisons.map(comparisonCells)
  return [
    `## ${count(authors)} authors, ${engine}${workers > 1 ? `, ${workers} workers` : ''}`,
    '',
    ...(rows.length > 0 ? [...table([HEAD, ...rows]), ''] : []),
    `Import ${count(portal.importLinesPerSecond)} lines/s, export ${count(portal.exportLinesPerSecond)} lines/s ` +
      `(${count(portal.lines)} lines, start of the process included).`,
    footprint(report),
    '',
  ]
}

/** What the portal takes; what the system does not tell is left out. */
function footprint({ portal, servingBytes }: PortalReport): string {
  const parts = [
    `Disk ${megabytes(portal.diskBytes)}`,
    ...(portal.importPeakBytes ? [`import peak ${megabytes(portal.importPeakBytes)}`] : []),
    ...(servingBytes ? [`serving ${megabytes(servingBytes)} resident`] : []),
  ]
  return `${parts.join(', ')}.`
}

function megabytes(bytes: number): string {
  return `${count(bytes / 1e6)} MB`
}

const HEAD = [
  'kind',
  'against',
  'palmares req/s',
  'baseline req/s',
  'ratio (min–max)',
  'wanted',
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
    `${ratio.median.toFixed(2)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})`,
    `${kind.target.toFixed(2)}${ratio.median >= kind.target ? '' : ' missed'}`,
    latency(palmares),
    latency(baseline),
    `${Math.round(100 * Math.max(palmares.loadBusy, baseline.loadBusy))} %`,
  ]
}

function latency({ p50Milliseconds, p99Milliseconds }: Measured): string {
  return `${p50Milliseconds.toFixed(2)}/${p99Milliseconds.toFixed(2)}`
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** A Markdown table whose columns are as wide as their widest cell; all but the first two hold numbers. */
function table(rows: string[][]): string[] {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => (row[column] as string).length)))
  const line = (row: string[]) =>
    `| ${row.map((cell, i) => (i < 2 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join(' | ')} |`
  const rule = `| ${widths.map((width, i) => (i < 2 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  const [head, ...body] = rows.map(line)
  return [head as string, rule, ...body]
}
