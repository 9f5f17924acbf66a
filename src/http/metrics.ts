import { createServer, type Server } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { ErrorCode } from '../errors.js'

/** From a cached answer to a search within its budget. */
const DURATION_BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** What the server counts. Labels are routes and codes, never what a client sent. */
export class Metrics {
  readonly registry = new Registry()
  private readonly durations = new Histogram({
    name: 'palmares_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [this.registry],
  })
  private readonly durationsByKey = new Map<string, Histogram.Internal<'method' | 'route' | 'status'>>()
  private readonly problems = new Counter({
    name: 'palmares_http_problems_total',
    help: 'Answers that were a problem, by its code.',
    labelNames: ['code'] as const,
    registers: [this.registry],
  })
  private readonly cached = new Counter({
    name: 'palmares_response_cache_total',
    help: 'Reads answered from the cache of ready responses (hit) or from the store (miss).',
    labelNames: ['result'] as const,
    registers: [this.registry],
  })
  private readonly hit = this.cached.labels('hit')
  private readonly miss = this.cached.labels('miss')
  private runningCount = 0

  constructor() {
    collectDefaultMetrics({ register: this.registry })
    const running = () => this.runningCount
    new Gauge({
      name: 'palmares_http_requests_running',
      help: 'Requests under way.',
      registers: [this.registry],
      collect() {
        this.set(running())
      },
    })
  }

  requestStarted(): void {
    this.runningCount++
  }

  requestEnded(method: string, route: string, status: number, seconds: number, problem: ErrorCode | undefined): void {
    this.runningCount--
    this.durationOf(method, route, status).observe(seconds)
    if (problem) this.problemAnswered(problem)
  }

  problemAnswered(code: ErrorCode): void {
    this.problems.labels(code).inc()
  }

  /** Routes, methods and statuses are few, and their labels cost more to look up than to hold. */
  private durationOf(method: string, route: string, status: number): Histogram.Internal<'method' | 'route' | 'status'> {
    const key = `${method} ${route} ${status}`
    const known = this.durationsByKey.get(key)
    if (known) return known
    const made = this.durations.labels(method, route, String(status))
    this.durationsByKey.set(key, made)
    return made
  }

  cacheAnswered(isHit: boolean): void {
    if (isHit) this.hit.inc()
    else this.miss.inc()
  }
}

/** Serves `/metrics` on a port of its own, for the loopback interface alone. */
export async function listenMetrics(metrics: Metrics, port: number): Promise<Server> {
  const server = createServer(async (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(await metrics.registry.metrics())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
  return server
}
