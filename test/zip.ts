import { crc32, deflateRawSync } from 'node:zlib'

/** One file of an archive, with faults if a test sets them. */
export interface ZipEntry {
  name: string
  data: Buffer | string
  isDeflated?: boolean
  /** Values of the headers, if they are wrong. */
  crc?: number
  declaredBytes?: number
  /** Bits of the general purpose flag; 1 is "encrypted". */
  flags?: number
  /** The mode of a Unix file; 0o120777 is a link. */
  mode?: number
  method?: number
}

/** A minimal zip archive. */
export function zip(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    const data = Buffer.from(entry.data)
    const stored = entry.isDeflated ? deflateRawSync(data) : data
    const name = Buffer.from(entry.name)
    const head = header(entry, data, stored, name)
    const local = Buffer.concat([u32(0x04034b50), u16(20), head, name])
    const attributes = ((entry.mode ?? 0) * 65_536) >>> 0
    const central = [
      u32(0x02014b50),
      u16(0x0314),
      u16(20),
      head,
      u16(0),
      u16(0),
      u16(0),
      u32(attributes),
      u32(offset),
      name,
    ]
    directory.push(Buffer.concat(central))
    parts.push(local, stored)
    offset += local.length + stored.length
  }
  const list = Buffer.concat(directory)
  const count = u16(Math.min(entries.length, 0xffff))
  const end = Buffer.concat([u32(0x06054b50), u16(0), u16(0), count, count, u32(list.length), u32(offset), u16(0)])
  return Buffer.concat([...parts, list, ...zip64(entries.length, list.length, offset), end])
}

/** The ZIP64 record, for more entries than 16 bits can count. */
function zip64(entries: number, listBytes: number, listOffset: number): Buffer[] {
  if (entries < 0xffff) return []
  const counts = [u64(entries), u64(entries), u64(listBytes), u64(listOffset)]
  const record = Buffer.concat([u32(0x06064b50), u64(44), u16(45), u16(45), u32(0), u32(0), ...counts])
  return [record, Buffer.concat([u32(0x07064b50), u32(0), u64(listOffset + listBytes), u32(1)])]
}

/** The fields that the local header and the central directory share, from the flags to the length of the extra field. */
function header(entry: ZipEntry, data: Buffer, stored: Buffer, name: Buffer): Buffer {
  const method = entry.method ?? (entry.isDeflated ? 8 : 0)
  const declared = entry.declaredBytes ?? data.length
  const size = entry.isDeflated || entry.method !== undefined ? stored.length : declared
  const sum = entry.crc ?? crc32(data)
  return Buffer.concat([
    ...[u16(entry.flags ?? 0x800), u16(method), u16(0), u16(0x21), u32(sum)],
    ...[u32(size), u32(declared), u16(name.length), u16(0)],
  ])
}

function u16(value: number): Buffer {
  const buffer = Buffer.alloc(2)
  buffer.writeUInt16LE(value)
  return buffer
}

function u32(value: number): Buffer {
  const buffer = Buffer.alloc(4)
  buffer.writeUInt32LE(value)
  return buffer
}

function u64(value: number): Buffer {
  const buffer = Buffer.alloc(8)
  buffer.writeBigUInt64LE(BigInt(value))
  return buffer
}
