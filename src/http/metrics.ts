import { createServer, type Server } from 'node:http'
import { collectDefaultMetrics, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'
import type { ErrorCode } from '../errors.js'
import type { Store } from '../store/store.js'

/** From a cached answer to a search within its budget. */
const DURATION_BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const DURATIONS = 'palmares_http_request_duration_seconds'

/** Metrics as they are, in the form that processes send each other. */
export type MetricValues = MetricObjectWithValues<MetricValue<string>>[]

/** What is served at `/metrics`. */
export type MetricsSource = Pick<Registry, 'contentType' | 'metrics'>

/** What the server counts. Labels are routes and codes, never what a client sent. */
export class Metrics {
  readonly registry = new Registry()
  private readonly growing: { get(): MetricValues[number] }[] = []
  private readonly durations = new Map<string, Duration>()
  private readonly problems: Counts = {}
  private readonly cached = { hit: 0, miss: 0 }
  private running = 0
  private hasGrown = false

  constructor() {
    this.addBy(
      'code',
      'counter',
      'palmares_http_problems_total',
      'Answers that were a problem, by its code.',
      () => this.problems,
    )
    collectDefaultMetrics({ register: this.registry })
    const help = 'Time from the head of a request to the end of its answer.'
    this.add(['method', 'route', 'status'], 'histogram', DURATIONS, help, () =>
      [...this.durations.values()].flatMap(valuesOf),
    )
    this.addOne('palmares_http_requests_running', 'Requests under way.', () => this.running)
    this.addBy(
      'result',
      'counter',
      'palmares_response_cache_total',
      'Reads answered from the cache of ready responses (hit) or from the store (miss).',
      () => this.cached,
    )
  }

  requestStarted(): void {
    this.running++
  }

  requestEnded(): void {
    this.running--
  }

  answered(method: string, route: string, status: number, seconds: number, problem: ErrorCode | undefined): void {
    this.hasGrown = true
    if (problem) this.problems[problem] = (this.problems[problem] ?? 0) + 1
    const key = `${method} ${route} ${status}`
    let duration = this.durations.get(key)
    if (!duration) {
      duration = { labels: { method, route, status: String(status) }, counts: NO_COUNTS.slice(), seconds: 0 }
      this.durations.set(key, duration)
    }
    observe(duration, seconds)
  }

  cacheAnswered(isHit: boolean): void {
    if (isHit) this.cached.hit++
    else this.cached.miss++
  }

  /** Adds what an operator watches of the store. */
  watch(store: Pick<Store, 'state'>): void {
    const help = 'Snapshots read, by the server that answered.'
    this.addBy('server', 'counter', 'palmares_store_reads_total', help, () => store.state().reads)
    this.addOne('palmares_store_hearing', 'Whether changes are heard as they come (1), or each request asks (0).', () =>
      Number(store.state().isHearing),
    )
    this.addOne(
      'palmares_store_streams',
      'Snapshots that are read now for an answer that goes out whole.',
      () => store.state().streams,
    )
    this.addBy(
      'state',
      'gauge',
      'palmares_store_replicas',
      'Replicas that reads go to now (usable), and all that were given (known).',
      () => store.state().replicas,
    )
  }

  /** What we count and only grows; undefined if it has not grown since the last call. */
  grown(): MetricValues | undefined {
    if (!this.hasGrown) return undefined
    this.hasGrown = false
    return this.growing.map((metric) => metric.get())
  }

  /**
   * Adds a metric whose values are read when it is scraped. The library's own metrics hash their labels for each observation,
   * which cost more than a tenth of what we add to a repeated request.
   */
  private add(labelNames: string[], type: Type, name: string, help: string, values: () => Value[]): void {
    const metric = { name, help, type, aggregator: 'sum', labelNames }
    const get = () => ({ ...metric, values: values() }) as never
    this.registry.registerMetric({ ...metric, get } as never)
    if (type !== 'gauge') this.growing.push({ get })
  }

  private addBy(label: string, type: Type, name: string, help: string, counts: () => Counts): void {
    const values = () => Object.entries(counts()).map(([key, value]) => ({ labels: { [label]: key }, value }))
    this.add([label], type, name, help, values)
  }

  private addOne(name: string, help: string, value: () => number): void {
    this.add([], 'gauge', name, help, () => [{ labels: {}, value: value() }])
  }
}

type Value = MetricValue<string> & { metricName?: string }
type Type = 'counter' | 'gauge' | 'histogram'
type Counts = Record<string, number>

/** The durations of the answers with the same labels. */
interface Duration {
  labels: { method: string; route: string; status: string }
  /** Observations in each bucket, not cumulative; the last bucket has no upper bound. */
  counts: number[]
  seconds: number
}

const NO_COUNTS = Array<number>(DURATION_BUCKETS_SECONDS.length + 1).fill(0)

function observe(duration: Duration, seconds: number): void {
  let bucket = 0
  while (bucket < DURATION_BUCKETS_SECONDS.length && seconds > (DURATION_BUCKETS_SECONDS[bucket] as number)) bucket++
  duration.counts[bucket] = (duration.counts[bucket] as number) + 1
  duration.seconds += seconds
}

function valuesOf({ labels, counts, seconds }: Duration): Value[] {
  let count = 0
  const buckets = counts.map((inBucket, i) => {
    count += inBucket
    const le = DURATION_BUCKETS_SECONDS[i] ?? '+Inf'
    return { metricName: `${DURATIONS}_bucket`, labels: { le, ...labels }, value: count }
  })
  const total = (suffix: string, value: number) => ({ metricName: `${DURATIONS}_${suffix}`, labels, value })
  return [...buckets, total('sum', seconds), total('count', count)]
}

/** Serves `/metrics` on its own port, only on the loopback interface. */
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
