import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { StoreError } from '../store.js'
import { SqliteDb } from './db.js'
import type { Answer, Call, Method, ThreadData, ThreadKind } from './thread-entry.js'

/** The built file, even if this one runs from its source: `imports` in package.json names it. A thread runs no TypeScript. */
const ENTRY = createRequire(import.meta.url).resolve('#sqlite-thread')

interface Asked {
  resolve(value: unknown): void
  reject(error: unknown): void
}

/**
 * A connection in its own thread. Its calls run there one after the other, without blocking the event loop. A thread that has
 * ended answers nothing more. It is never terminated from here, because the driver would abort the whole process if it is
 * terminated during a call.
 */
export class Thread extends SqliteDb {
  /** The deadline of its current user, in milliseconds since 1970; later calls are refused. */
  deadline = Number.POSITIVE_INFINITY
  private readonly worker: Worker
  private readonly asked: Asked[] = []
  private fault: StoreError | undefined

  constructor(
    private readonly path: string,
    kind: ThreadKind,
  ) {
    super()
    this.worker = new Worker(ENTRY, { execArgv: [], workerData: { path, kind } satisfies ThreadData })
    this.worker.unref()
    this.worker.on('message', (answer: Answer) => this.answered(answer))
    this.worker.on('error', (error) => this.ended(error))
    this.worker.on('exit', () => this.ended())
  }

  get isEnded(): boolean {
    return this.fault !== undefined
  }

  /** Whether a call is in flight. */
  get isBusy(): boolean {
    return this.asked.length > 0
  }

  rows(sql: string, values: readonly unknown[] = []): Promise<unknown[]> {
    return this.ask(['rows', sql, values])
  }

  row(sql: string, values: readonly unknown[] = []): Promise<Record<string, unknown> | undefined> {
    return this.ask(['row', sql, values])
  }

  change(sql: string, values: readonly unknown[] = []): Promise<number> {
    return this.ask(['change', sql, values])
  }

  /** Sends some rows per message, because making and copying them blocks the event loop. */
  async load(table: string, columns: readonly string[], rows: Iterable<readonly unknown[]>): Promise<void> {
    let some: (readonly unknown[])[] = []
    for (const row of rows) {
      some.push(row)
      if (some.length < ROWS_A_MESSAGE) continue
      await this.ask(['load', table, columns, some])
      some = []
    }
    if (some.length > 0) await this.ask(['load', table, columns, some])
  }

  /** If the thread has ended, so has its transaction. */
  async rollback(): Promise<void> {
    if (!this.fault) await this.ask(['rollback'])
  }

  /** Closes its connection after all earlier calls, and ends. */
  async close(): Promise<void> {
    if (this.fault) return
    const ended = new Promise((resolve) => this.worker.once('exit', resolve))
    await this.ask(['close'])
    this.worker.ref()
    await ended
  }

  private ask<T>(call: Call): Promise<T> {
    if (this.fault) return Promise.reject(this.fault)
    if (Date.now() >= this.deadline && !CLEANUP.includes(call[0])) return Promise.reject(tooSlow(this.path))
    return new Promise((resolve, reject) => {
      // If the call cannot be sent, this throws. No entry of `asked` may then wait for its answer.
      this.worker.postMessage(call)
      // An idle process stays alive for an answer, but not for an idle thread.
      if (this.asked.length === 0) this.worker.ref()
      this.asked.push({ resolve: resolve as Asked['resolve'], reject })
    })
  }

  private answered(answer: Answer): void {
    const asked = this.asked.shift() as Asked
    if (this.asked.length === 0) this.worker.unref()
    if ('value' in answer) asked.resolve(answer.value)
    else asked.reject('fault' in answer ? new StoreError(answer.fault, answer.message) : answer.error)
  }

  private ended(cause?: unknown): void {
    this.fault ??= new StoreError('unreachable', `${this.path}: the store thread has ended; try again`, {
      cause,
    })
    for (const { reject } of this.asked.splice(0)) reject(this.fault)
  }
}

const ROWS_A_MESSAGE = 1_000

const CLEANUP: readonly Method[] = ['rollback', 'close']

function tooSlow(path: string): StoreError {
  return new StoreError('slow', `${path}: this read timed out`)
}

/** A thread that starts on first use, and is replaced when it has ended. */
export class LastingThread {
  private thread: Thread | undefined
  private isClosed = false

  constructor(
    private readonly path: string,
    private readonly kind: ThreadKind,
  ) {}

  get isBusy(): boolean {
    return this.thread?.isBusy ?? false
  }

  current(): Thread {
    if (this.isClosed) throw new StoreError('unreachable', `${this.path}: the store is closed`)
    if (!this.thread || this.thread.isEnded) this.thread = new Thread(this.path, this.kind)
    return this.thread
  }

  async close(): Promise<void> {
    this.isClosed = true
    await this.thread?.close()
  }
}
