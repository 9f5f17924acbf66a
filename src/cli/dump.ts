import { createReadStream, fstatSync, openSync } from 'node:fs'
import { CommandError } from './output.js'

export interface Dump {
  stream: AsyncIterable<Buffer>
  /** Of standard input nobody knows the end. */
  totalBytes: number | undefined
}

/** Opens a file of lines, `-` for standard input; before a store is opened, which may make one. */
export function openDump(file: string): Dump {
  if (file === '-') return { stream: process.stdin, totalBytes: undefined }
  const fd = openSync(file, 'r')
  const stats = fstatSync(fd)
  if (stats.isDirectory()) throw new CommandError(`${file}: this is a folder, not a file`)
  return { stream: createReadStream(file, { fd }), totalBytes: stats.size }
}
