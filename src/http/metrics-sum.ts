import { AggregatorRegistry, Gauge, Registry } from 'prom-client'
import type { MetricsSource, MetricValues } from './metrics.js'

/** A scrape waits so long for a process that hangs, then takes what it said last. */
const ANSWER_TIMEOUT_MILLISECONDS = 2_000

/** The metrics of several processes as one. What only grows is kept of those that ended, so that no sum ever falls. */
export class MetricsSum<Process> {
  private readonly last = new Map<Process, MetricValues>()
  private readonly waiting = new Map<Process, (() => void)[]>()
  private past: MetricValues = []

  constructor(private readonly ask: (process: Process) => void) {}

  /** Takes what a process says: all of its metrics, or some. */
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

  /** The sum over processes, as they say it now. */
  async sum(processes: ReadonlySet<Process>): Promise<Registry> {
    await this.askAll([...processes])
    return AggregatorRegistry.aggregate([this.past, ...this.last.values()])
  }

  private async askAll(processes: Process[]): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ANSWER_TIMEOUT_MILLISECONDS)
    })
    await Promise.race([timeout, Promise.all(processes.map((each) => this.answered(each)))])
    clearTimeout(timer)
    // Who did not answer is asked again by the next scrape.
    for (const each of processes) this.settle(each)
  }

  private answered(process: Process): Promise<void> {
    return new Promise((resolve) => {
      const others = this.waiting.get(process)
      if (others) {
        others.push(resolve)
        return
      }
      this.waiting.set(process, [resolve])
      this.ask(process)
    })
  }

  private settle(process: Process): void {
    for (const resolve of this.waiting.get(process) ?? []) resolve()
    this.waiting.delete(process)
  }
}

/** A gauge says what is, so it ends with its process. */
const GROWING_TYPES = new Set(['counter', 'histogram', 'summary'])
