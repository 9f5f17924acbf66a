import { createServer, type Server } from 'node:http'
import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import type { ErrorCode } from '../errors.js'
import type { Store } from '../store/store.js'

/** From a cached answer to a search within its budget. */
const DURATION_BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Metrics as they are, in the form that processes send each other. */
export type MetricValues = MetricObjectWithValues<MetricValue<string>>[]

/** What is served at `/metrics`. */
export type MetricsSource = Pick<Registry, 'contentType' | 'metrics'>

/** What the server counts. Labels are routes and codes, never what a client sent. */
export class Metrics {
  readonly registry = new Registry()
  private readonly durations = new Durations('palmares_http_request_duration_seconds')
  private readonly problems = new Counter({
    name: 'palmares_http_problems_total',
    help: 'Answers that were a problem, by its code.',
    labelNames: ['code'] as const,
    registers: [this.registry],
  })
  private running = 0
  private readonly cached = { hit: 0, miss: 0 }
  private hasGrown = false

  constructor() {
    const { registry, cached } = this
    const running = () => this.running
    collectDefaultMetrics({ register: registry })
    registry.registerMetric(this.durations as never)
    new Gauge({
      name: 'palmares_http_requests_running',
      help: 'Requests under way.',
      registers: [registry],
      collect() {
        this.set(running())
      },
    })
    new Counter({
      name: 'palmares_response_cache_total',
      help: 'Reads answered from the cache of ready responses (hit) or from the store (miss).',
      labelNames: ['result'] as const,
      registers: [registry],
      collect() {
        this.reset()
        for (const [result, count] of Object.entries(cached)) this.inc({ result }, count)
      },
    })
  }

  requestStarted(): void {
    this.running++
  }

  requestEnded(): void {
    this.running--
  }

  answered(method: string, route: string, status: number, seconds: number, problem: ErrorCode | undefined): void {
    this.hasGrown = true
    this.durations.observe(method, route, status, seconds)
    if (problem) this.problems.labels(problem).inc()
  }

  cacheAnswered(isHit: boolean): void {
    if (isHit) this.cached.hit++
    else this.cached.miss++
  }

  /** Adds what an operator watches of the store. */
  watch(store: Pick<Store, 'state'>): void {
    const registers = [this.registry]
    new Counter({
      name: 'palmares_store_reads_total',
      help: 'Snapshots read, by the server that answered.',
      labelNames: ['server'] as const,
      registers,
      collect() {
        this.reset()
        for (const [server, count] of Object.entries(store.state().reads)) this.inc({ server }, count)
      },
    })
    new Gauge({
      name: 'palmares_store_hearing',
      help: 'Whether changes are heard as they come (1), or each request asks (0).',
      registers,
      collect() {
        this.set(store.state().isHearing ? 1 : 0)
      },
    })
    new Gauge({
      name: 'palmares_store_streams',
      help: 'Snapshots that are read now for an answer that goes out whole.',
      registers,
      collect() {
        this.set(store.state().streams)
      },
    })
    new Gauge({
      name: 'palmares_store_replicas',
      help: 'Replicas that reads go to now (usable), and all that were given (known).',
      labelNames: ['state'] as const,
      registers,
      collect() {
        for (const [state, count] of Object.entries(store.state().replicas)) this.set({ state }, count)
      },
    })
  }

  /** What we count and only grows, unless it is as it was at the last call. */
  async grown(): Promise<MetricValues | undefined> {
    if (!this.hasGrown) return undefined
    this.hasGrown = false
    const metrics = GROWING.map((name) => this.registry.getSingleMetric(name) as unknown as Gettable)
    return Promise.all(metrics.map((metric) => metric.get()))
  }
}

const GROWING = [
  'palmares_http_request_duration_seconds',
  'palmares_http_problems_total',
  'palmares_response_cache_total',
  'palmares_store_reads_total',
]

interface Gettable {
  get(): Promise<MetricValues[number]>
}

interface Duration {
  labels: { method: string; route: string; status: string }
  /** Observations in each bucket alone, the last one beyond them all. */
  counts: number[]
  seconds: number
}

/**
 * The histogram of every request, in the form that the registry prints. It counts where the library would hash labels
 * for each observation, which cost more than a tenth of what we add to a repeated request.
 */
class Durations {
  readonly help = 'Time from the head of a request to the end of its answer.'
  readonly type = 'histogram'
  readonly aggregator = 'sum'
  readonly labelNames = ['method', 'route', 'status']
  private readonly byKey = new Map<string, Duration>()

  constructor(readonly name: string) {}

  observe(method: string, route: string, status: number, seconds: number): void {
    const key = `${method} ${route} ${status}`
    const duration = this.byKey.get(key) ?? this.add(key, { method, route, status: String(status) })
    let bucket = 0
    while (bucket < DURATION_BUCKETS_SECONDS.length && seconds > (DURATION_BUCKETS_SECONDS[bucket] as number)) bucket++
    duration.counts[bucket] = (duration.counts[bucket] as number) + 1
    duration.seconds += seconds
  }

  /** What the registry asks of a metric when it is scraped. */
  get() {
    const { name, help, type, aggregator } = this
    return {
      name,
      help,
      type,
      aggregator,
      values: [...this.byKey.values()].flatMap((duration) => this.valuesOf(duration)),
    }
  }

  reset(): void {
    this.byKey.clear()
  }

  private valuesOf({ labels, counts, seconds }: Duration) {
    let count = 0
    const buckets = counts.map((inBucket, i) => {
      count += inBucket
      const le = DURATION_BUCKETS_SECONDS[i] ?? '+Inf'
      return { metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: count }
    })
    const total = (suffix: string, value: number) => ({ metricName: `${this.name}_${suffix}`, labels, value })
    return [...buckets, total('sum', seconds), total('count', count)]
  }

  private add(key: string, labels: Duration['labels']): Duration {
    const made = { labels, counts: Array<number>(DURATION_BUCKETS_SECONDS.length + 1).fill(0), seconds: 0 }
    this.byKey.set(key, made)
    return made
  }
}

/** Serves `/metrics` on a port of its own, for the loopback interface alone. */
export async function listenMetrics(source: MetricsSource, port: number): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    const text = await source.metrics().catch(() => undefined)
    if (text === undefined) response.writeHead(500).end()
    else response.writeHead(200, { 'content-type': source.contentType }).end(text)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
  return server
}
