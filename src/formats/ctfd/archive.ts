import { open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import yauzl, { type Entry, type ZipFile } from 'yauzl'
import { ImportError } from '../../portal/import.js'
import { refuse } from '../faults.js'
import { HEAD_BYTES, refuseOther } from '../sniff.js'

/** An export holds the files of its challenges too, which are not read; this bounds what it says of itself. */
const MAX_ENTRIES = 100_000
const MAX_DECLARED_BYTES = 4 * 1024 ** 3
const MAX_TABLE_BYTES = 1024 ** 3
const MAX_NAME_BYTES = 1_000

/** The kinds of file that an entry of a Unix system may be: a plain one, a folder, or nothing said. */
const FILE_TYPES = [0o100000, 0o040000, 0]

const STORED = 0
const DEFLATED = 8

/** The tables of an export, by their names. Nothing else of the archive is opened. */
export type Archive = Awaited<ReturnType<typeof openArchive>>

/** Where a table lies, as messages name it. */
export function fileOf(table: string): string {
  return `db/${table}.json`
}

/** Opens an export and looks through the names in it before anything is read. Throws `ImportError`. */
export async function openArchive(path: string) {
  refuseOther(await readHead(path), 'ctfd')
  const options = { autoClose: false, decodeStrings: true, strictFileNames: true, validateEntrySizes: true }
  const zip = await yauzl.openPromise(path, options).catch((error: Error) => {
    if ('syscall' in error) throw error
    throw refuse(`the file is not a zip archive that can be read, or it was cut short (${error.message})`)
  })
  try {
    const entries = await listEntries(zip)
    const folder = folderOf(entries)
    const entryOf = (table: string) => entries.get(`${folder}${fileOf(table)}`)
    return {
      has: (table: string) => entryOf(table) !== undefined,
      /** 0 for a table that is empty or missing. */
      bytesOf: (table: string) => entryOf(table)?.uncompressedSize ?? 0,
      /** Throws `ImportError` if the bytes are not those that the archive declares. */
      read: (table: string) => readEntry(zip, entryOf(table) as Entry, fileOf(table)),
      close: () => zip.close(),
    }
  } catch (error) {
    zip.close()
    throw error
  }
}

async function readHead(path: string): Promise<Uint8Array> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}

async function listEntries(zip: ZipFile): Promise<Map<string, Entry>> {
  if (zip.entryCount > MAX_ENTRIES) throw refuse(`the archive has more than ${MAX_ENTRIES} entries`)
  const entries = new Map<string, Entry>()
  let declaredBytes = 0
  try {
    for await (const entry of zip.eachEntry()) {
      checkEntry(entry, entries)
      declaredBytes += entry.uncompressedSize
      if (declaredBytes > MAX_DECLARED_BYTES) throw refuse(`the archive declares more than ${MAX_DECLARED_BYTES} bytes`)
      entries.set(entry.fileName, entry)
    }
  } catch (error) {
    throw error instanceof ImportError ? error : refuse(`the archive is refused: ${(error as Error).message}`)
  }
  return entries
}

function checkEntry(entry: Entry, before: ReadonlyMap<string, Entry>): void {
  const { fileName } = entry
  if (entry.fileNameLength > MAX_NAME_BYTES) throw refuse(`the archive has a name of more than ${MAX_NAME_BYTES} bytes`)
  const fault = fileName.includes('\0')
    ? 'has NUL in its name'
    : before.has(fileName)
      ? 'is there twice'
      : entry.isEncrypted()
        ? 'is encrypted'
        : FILE_TYPES.includes((entry.externalFileAttributes >>> 16) & 0o170000)
          ? undefined
          : 'is a link or a device, not a file'
  if (fault) throw refuse(`the archive is refused: ${fileName} ${fault}`)
}

/** The tables lie under db/, or under one folder more, as who unpacks an export and packs it again makes it. */
function folderOf(entries: ReadonlyMap<string, Entry>): string {
  const folders = [...entries.keys()].flatMap((name) => /^((?:[^/]+\/)?)db\/config\.json$/.exec(name)?.[1] ?? [])
  const [first] = folders.sort((a, b) => a.length - b.length)
  if (first === undefined) throw refuse(`the archive has no ${fileOf('config')}, so it is no CTFd export`)
  return first
}

async function* readEntry(zip: ZipFile, entry: Entry, file: string): AsyncGenerator<Uint8Array> {
  if (entry.uncompressedSize > MAX_TABLE_BYTES) throw refuse(`${file} is larger than ${MAX_TABLE_BYTES} bytes`)
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED) {
    throw refuse(`${file} is compressed in a way that is not known (method ${entry.compressionMethod})`)
  }
  let sum = 0
  let bytes = 0
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      sum = crc32(chunk as Buffer, sum)
      bytes += (chunk as Buffer).length
      yield chunk as Buffer
    }
  } catch (error) {
    throw error instanceof ImportError ? error : refuse(`${file} cannot be read: ${(error as Error).message}`)
  }
  if (bytes !== entry.uncompressedSize || sum !== entry.crc32) throw refuse(`${file} is damaged: its CRC-32 is wrong`)
}
