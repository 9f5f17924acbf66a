import { setTimeout as sleep } from 'node:timers/promises'
import { AggregatorRegistry, Gauge, Registry } from 'prom-client'
import type { MetricsSource, MetricValues } from './metrics.js'

/** How long a scrape waits for a process that hangs. */
const ANSWER_TIMEOUT_MILLISECONDS = 2_000

/** The metrics of several processes as one. Counts of processes that ended are kept, so that no counter ever falls. */
export class MetricsSum<Process> {
  private readonly last = new Map<Process, MetricValues>()
  private readonly waiting = new Map<Process, (() => void)[]>()
  private past: MetricValues = []

  constructor(private readonly ask: (process: Process) => void) {}

  /** Records what a process reports: all of its metrics, or some. */
  heard(process: Process, metrics: MetricValues, isWhole: boolean): void {
    const before = this.last.get(process) ?? []
    const names = new Set(metrics.map(({ name }) => name))
    this.last.set(process, [...before.filter(({ name }) => !names.has(name)), ...metrics])
    if (isWhole) this.settle(process)
  }

  ended(process: Process): void {
    const grown = this.last.get(process)?.filter(({ type }) => GROWING_TYPES.has(String(type))) ?? []
    this.past = AggregatorRegistry.aggregate([this.past, grown]).getMetricsAsArray() as unknown as MetricValues
    this.last.delete(process)
    this.settle(process)
  }

  /** The sum over processes, and how many they are, as it is scraped. */
  source(processes: ReadonlySet<Process>): MetricsSource {
    return {
      contentType: Registry.PROMETHEUS_CONTENT_TYPE,
      metrics: async () => {
        const registry = await this.sum(processes)
        const gauge = { name: 'palmares_workers', help: 'Processes that serve.', registers: [registry] }
        new Gauge(gauge).set(processes.size)
        return registry.metrics()
      },
    }
  }

  /** The sum over processes now. A process that does not answer in time counts as it last reported. */
  async sum(processes: ReadonlySet<Process>): Promise<Registry> {
    const asked = [...processes]
    const answered = Promise.all(asked.map((each) => this.answered(each)))
    await Promise.race([answered, sleep(ANSWER_TIMEOUT_MILLISECONDS, undefined, { ref: false })])
    // The next scrape asks again.
    for (const each of asked) this.settle(each)
    return AggregatorRegistry.aggregate([this.past, ...this.last.values()])
  }

  private answered(process: Process): Promise<void> {
    return new Promise((resolve) => {
      const others = this.waiting.get(process)
      this.waiting.set(process, [...(others ?? []), resolve])
      if (!others) this.ask(process)
    })
  }

  private settle(process: Process): void {
    for (const resolve of this.waiting.get(process) ?? []) resolve()
    this.waiting.delete(process)
  }
}

/** Gauges are left out: they end with their process. */
const GROWING_TYPES = new Set(['counter', 'histogram', 'summary'])
