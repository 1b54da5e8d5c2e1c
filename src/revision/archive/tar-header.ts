/**
 * The headers of a tar file. Written here and not by a package: an archive is named by its hash, so
 * each tree has to have exactly one form, and whatever differs from that form is refused.
 */

import { RevisionError } from '../revision-error.ts'
import { blockBytes, bytesToBlockEnd, fieldOf, textOf } from './tar-block.ts'

/** A file or a link of a tree. Times, owners and other modes are not kept. */
export type TreeEntry = FileEntry | LinkEntry

/** A file without its content. */
export interface FileEntry {
  readonly kind: 'file'
  readonly path: string
  readonly executable: boolean
  readonly bytes: number
}

/** A symbolic link to a place in the same tree. */
export interface LinkEntry {
  readonly kind: 'link'
  readonly path: string
  /** Relative to the folder of the link. */
  readonly target: string
}

/** The two empty blocks that end a tar file. */
export const tarEnd = Buffer.alloc(2 * blockBytes)

/** Bytes of the records before a header: two texts of paths and what names them. */
const recordsMax = 4 * blockBytes

const [nameBytes, prefixBytes] = [100, 155]

/** The header of an entry: ustar, with pax records before it where the texts do not fit. */
export function headerOf(entry: TreeEntry): Buffer {
  const target = entry.kind === 'link' ? entry.target : ''
  const place = placeOf(entry.path)
  const records = [
    ...place === undefined ? [recordOf('path', entry.path)] : [],
    ...fits(target, nameBytes) ? [] : [recordOf('linkpath', target)],
  ]
  const main = blockOf({
    ...place ?? { name: Buffer.from(entry.path).subarray(0, nameBytes), prefix: '' },
    target: records.length > 0 ? Buffer.from(target).subarray(0, nameBytes) : target,
    mode: entry.kind === 'file' && entry.executable ? 0o755 : 0o644,
    bytes: entry.kind === 'file' ? entry.bytes : 0,
    type: entry.kind === 'file' ? '0' : '2',
  })
  if (records.length === 0) return main
  const text = Buffer.from(records.join(''))
  const before = blockOf({ name: 'pax', prefix: '', target: '', mode: 0o644, bytes: text.length,
    type: 'x' })
  return Buffer.concat([before, text, paddingOf(text.length), main])
}

/** Zero bytes that fill the last block of a content with this length. */
export function paddingOf(bytes: number): Buffer {
  return tarEnd.subarray(0, bytesToBlockEnd(bytes))
}

/** Splits a path between the two fields of ustar; undefined if it does not fit. */
function placeOf(path: string): { readonly name: string; readonly prefix: string } | undefined {
  if (fits(path, nameBytes)) return { name: path, prefix: '' }
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)]
    if (!fits(name, nameBytes)) return undefined
    if (fits(prefix, prefixBytes)) return { name, prefix }
  }
  return undefined
}

/**
 * True if the text fits into a field of ustar. Only ASCII does: other characters have no fixed
 * meaning there.
 */
function fits(text: string, bytes: number): boolean {
  return text.length <= bytes && /^[\x20-\x7e]*$/.test(text)
}

/** A pax record: `27 path=…` and a line end. The length counts its own digits. */
function recordOf(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  const bytes = Buffer.byteLength(rest)
  const digits = String(bytes + String(bytes).length).length
  return `${bytes + digits}${rest}`
}

interface Fields {
  readonly name: string | Buffer
  readonly prefix: string
  readonly target: string | Buffer
  readonly mode: number
  readonly bytes: number
  readonly type: '0' | '2' | 'x'
}

function blockOf({ name, prefix, target, mode, bytes, type }: Fields): Buffer {
  const block = Buffer.alloc(blockBytes)
  const put = (value: string | Buffer, at: number) => Buffer.from(value).copy(block, at)
  put(name, 0)
  put(`${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100)
  put(`${octal(bytes, 11)}\0${octal(0, 11)}\0`, 124)
  put(' '.repeat(8), 148)
  put(type, 156)
  put(target, 157)
  put('ustar\x0000', 257)
  put(prefix, 345)
  put(`${octal(block.reduce((sum, byte) => sum + byte, 0), 6)}\0 `, 148)
  return block
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}

/** Reads blocks of a tar file. Throws `cut_off` where there are not so many bytes. */
export type ReadBlocks = (bytes: number) => Promise<Buffer>

/** Reads the next header; undefined at the end. Throws unless it is what `headerOf` makes. */
export async function readHeader(read: ReadBlocks): Promise<TreeEntry | undefined> {
  const first = await read(blockBytes)
  if (first.every((byte) => byte === 0)) {
    if ((await read(blockBytes)).some((byte) => byte !== 0)) throw notCanonical()
    return undefined
  }
  if (typeOf(first) !== 'x') return requireForm(entryOf(first, {}), first)
  const bytes = bytesOf(first)
  if (bytes > recordsMax) throw notCanonical()
  const text = await read(bytes + paddingOf(bytes).length)
  const main = await read(blockBytes)
  const entry = entryOf(main, recordsOf(text.subarray(0, bytes)))
  return requireForm(entry, Buffer.concat([first, text, main]))
}

function requireForm(entry: TreeEntry, header: Buffer): TreeEntry {
  if (!headerOf(entry).equals(header)) throw notCanonical()
  return entry
}

interface PaxRecords {
  readonly path?: string
  readonly linkpath?: string
}

function recordsOf(text: Buffer): PaxRecords {
  const records: { path?: string; linkpath?: string } = {}
  // The form is checked afterwards: what is read wrongly here is written differently.
  for (const line of textOf(text).split('\n')) {
    const [, key, value] = /^\d{1,10} (path|linkpath)=(.*)$/.exec(line) ?? []
    if (key !== undefined) records[key as 'path' | 'linkpath'] = value!
  }
  return records
}

function entryOf(block: Buffer, { path, linkpath }: PaxRecords): TreeEntry {
  const type = typeOf(block)
  if (type !== '0' && type !== '2') {
    throw new RevisionError('forbidden_kind', 'The archive has an entry that is neither a file ' +
      'nor a symbolic link.')
  }
  const [name, prefix] = [path === undefined ? fieldOf(block, 0, nameBytes) : '',
    path === undefined ? fieldOf(block, 345, prefixBytes) : '']
  const own = path ?? (prefix === '' ? name : `${prefix}/${name}`)
  if (type === '2') {
    return { kind: 'link', path: own, target: linkpath ?? fieldOf(block, 157, nameBytes) }
  }
  return { kind: 'file', path: own, executable: fieldOf(block, 100, 7) === '0000755',
    bytes: bytesOf(block) }
}

function typeOf(block: Buffer): string {
  return String.fromCharCode(block[156]!)
}

function bytesOf(block: Buffer): number {
  const digits = fieldOf(block, 124, 11)
  if (!/^[0-7]{11}$/.test(digits)) throw notCanonical()
  return Number.parseInt(digits, 8)
}

function notCanonical(): RevisionError {
  return new RevisionError('not_canonical',
    'The archive is not in the one form that a tree has: build it with heddle build.')
}
