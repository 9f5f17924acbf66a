import { catalogue, type ErrorCode, isFault } from '../errors.js'
import type { Metrics, MetricValues } from './metrics.js'

/** What one process that serves alone has counted. */
export async function trafficAlone({ registry }: Metrics): Promise<ReturnType<typeof trafficOf>> {
  return trafficOf(await registry.getMetricsAsJSON(), 1)
}

/** What an operator looks at first, from the metrics of some processes. */
export function trafficOf(metrics: MetricValues, processus: number) {
  const valuesOf = (name: string) => metrics.find((metric) => metric.name === name)?.values ?? []
  const problems = (isMeant: (status: number) => boolean) =>
    sum(valuesOf('palmares_http_problems_total').filter(({ labels }) => isMeant(statusOf(labels.code))))
  const durations = valuesOf('palmares_http_request_duration_seconds')
  const buckets = new Map<number | null, number>()
  for (const { labels, value } of durations) {
    if (labels.le === undefined) continue
    const secondes = labels.le === '+Inf' ? null : Number(labels.le)
    buckets.set(secondes, (buckets.get(secondes) ?? 0) + value)
  }
  return {
    processus,
    en_cours: sum(valuesOf('palmares_http_requests_running')),
    requetes: buckets.get(null) ?? 0,
    refusees: problems((status) => status === 401 || status === 403),
    limitees: problems((status) => status === 429),
    erreurs: problems(isFault),
    latences: [...buckets].map(([secondes, nb]) => ({ secondes, nb })),
  }
}

function statusOf(code: string | number | undefined): number {
  return catalogue[code as ErrorCode]?.status ?? 0
}

function sum(values: readonly { value: number }[]): number {
  return values.reduce((total, { value }) => total + value, 0)
}
