import type { TestServer } from './harness.js'

interface Gettable {
  get(): Promise<{ values: { value: number }[] }>
}

/** How many snapshots of the store a server has read, by its metrics. */
export async function readsOf({ metrics }: Pick<TestServer, 'metrics'>): Promise<number> {
  const metric = metrics.registry.getSingleMetric('palmares_store_reads_total') as unknown as Gettable
  const { values } = await metric.get()
  return values.reduce((sum, { value }) => sum + value, 0)
}

/** The result of `work`, and how many snapshots were read for it. */
export async function readsDuring<T>(
  server: Pick<TestServer, 'metrics'>,
  work: () => Promise<T>,
): Promise<{ value: T; reads: number }> {
  const before = await readsOf(server)
  const value = await work()
  return { value, reads: (await readsOf(server)) - before }
}
