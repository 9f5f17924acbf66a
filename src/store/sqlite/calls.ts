import type { StoreFault } from '../store.js'
import type { Connection } from './connection.js'

/** What the thread opens when it is first asked something. */
export interface ThreadData {
  path: string
  kind: ThreadKind
}

export type ThreadKind = 'reader' | 'writer'

/** What a thread is asked, one after the other: a method of its connection and what it takes. */
export type Call = { [M in Method]: [method: M, ...given: Parameters<Connection[M]>] }[Method]
export type Method = 'rows' | 'row' | 'change' | 'load' | 'rollback' | 'close'

/** What it answers, in the order in which it was asked. */
export type Answer = { value: unknown } | { fault: StoreFault; message: string } | { error: unknown }
