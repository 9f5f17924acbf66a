import { type Deadline, Semaphore } from '../semaphore.js'
import { StoreError } from './store.js'

export interface PoolOptions<T> {
  make(): T
  dispose(resource: T): unknown
  /** Resources at once; each is made when it is first wanted. */
  max: number
  /** Callers that may wait; as many as come where it is not given. */
  maxQueued?: number
  /** Thrown where the queue is full. */
  full?(): Error
}

/** Lends resources, each to one caller at a time. */
export class Pool<T> {
  private readonly idle: T[] = []
  private readonly turns: Semaphore

  constructor(private readonly options: PoolOptions<T>) {
    const { max: permits, ...queue } = options
    this.turns = new Semaphore({ permits, ...queue, closed: storeIsClosed })
  }

  /** How many callers have a resource or wait for one. */
  get count(): number {
    return this.turns.count
  }

  async use<R>(work: (resource: T) => Promise<R>, deadline?: Deadline): Promise<R> {
    const turn = this.turns.enter(deadline)
    const release = turn instanceof Promise ? await turn : turn
    let resource: T | undefined
    try {
      resource = this.idle.pop() ?? this.options.make()
      return await work(resource)
    } finally {
      if (resource) this.idle.push(resource)
      release()
    }
  }

  /** Refuses new callers, waits for those that have a resource or wait for one, and disposes of everything. */
  async close(): Promise<void> {
    await this.turns.close()
    for (const resource of this.idle.splice(0)) await this.options.dispose(resource)
  }
}

export function storeIsClosed(): StoreError {
  return new StoreError('unreachable', 'the store is closed')
}
