import { createReadStream, fstatSync, openSync, statSync } from 'node:fs'
import { CommandError } from '../forms.js'

export interface Dump {
  stream: AsyncIterable<Buffer>
  /** Of standard input nobody knows the end. */
  totalBytes: number | undefined
}

/** Opens a file, `-` for standard input; before a store is opened, which may make one. */
export function openDump(file: string): Dump {
  if (file === '-') return { stream: process.stdin, totalBytes: undefined }
  const fd = openSync(file, 'r')
  const stats = fstatSync(fd)
  if (stats.isDirectory()) throw new CommandError(`${file}: this is a folder, not a file`)
  return { stream: createReadStream(file, { fd }), totalBytes: stats.size }
}

/** Refuses what cannot be read from its end, as archives are. */
export function checkPlainFile(file: string): void {
  const stats = statSync(file)
  if (stats.isDirectory()) throw new CommandError(`${file}: this is a folder, not a file`)
  if (!stats.isFile()) throw new CommandError(`${file}: this is not a plain file, which an archive must be`)
}

/** The same dump, and its first bytes. */
export async function peek(dump: Dump): Promise<{ dump: Dump; head: Uint8Array }> {
  const chunks = dump.stream[Symbol.asyncIterator]()
  const first = await chunks.next()
  async function* stream() {
    if (!first.done) yield first.value
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  return { dump: { ...dump, stream: stream() }, head: first.done ? Buffer.alloc(0) : first.value }
}
