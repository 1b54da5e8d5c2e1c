/** Reads the machine for the doctor: its disk, its memory, its files. */

import { X509Certificate } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, rmSync, statfsSync, statSync,
  writeSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname, join } from 'node:path'

import type { Env } from '../../../cluster/index.ts'
import type { CertificateReading, Reading } from './reading.ts'

/** Writes that are timed. */
const writes = 9
const pageBytes = 4_096

/** The disk of a directory, or of the nearest one that exists. */
export function readDisk(directory: string): NonNullable<Reading['disk']> {
  const place = existing(directory)
  const { bavail, blocks, bsize } = statfsSync(place)
  return { freeBytes: bavail * bsize, allBytes: blocks * bsize, kind: kindOf(place) }
}

/** The median time of a write that waits for the disk; undefined if nothing can be written. */
export function timeFsync(directory: string, env: Pick<Env, 'monotonicMs'>): number | undefined {
  const path = join(existing(directory), `.doctor-${process.pid}`)
  try {
    const file = openSync(path, 'wx', 0o600)
    try {
      const times = Array.from({ length: writes }, () => {
        const beganMs = env.monotonicMs()
        writeSync(file, Buffer.alloc(pageBytes, 1))
        fsyncSync(file)
        return env.monotonicMs() - beganMs
      })
      return times.toSorted((one, other) => one - other)[Math.floor(writes / 2)]
    } finally {
      closeSync(file)
      rmSync(path, { force: true })
    }
  } catch {
    return undefined
  }
}

/** Files that this process may have open; undefined if the system does not tell. */
export function readDescriptors(): number | undefined {
  const found = /^Max open files\s+(\d+)/m.exec(textOf('/proc/self/limits'))
  return found?.[1] === undefined ? undefined : Number(found[1])
}

/** Megabytes that this process may take. */
export function readMemoryMb(): number {
  const limit = process.constrainedMemory()
  return Math.floor(Math.min(limit > 0 ? limit : Infinity, totalmem()) / 2 ** 20)
}

/** Certificates in PEM files, and the files that cannot be read. */
export function readCertificates(files: readonly string[]): {
  readonly certificates: readonly CertificateReading[]
  readonly unreadable: readonly string[]
} {
  const certificates: CertificateReading[] = []
  const unreadable: string[] = []
  for (const file of files) {
    try {
      const { validToDate } = new X509Certificate(readFileSync(file))
      certificates.push({ file, endsAtMs: validToDate.getTime() })
    } catch {
      unreadable.push(file)
    }
  }
  return { certificates, unreadable }
}

/**
 * Files that others than their owner may read, of those that exist. A file of another user may be
 * read through its group: that is how this process reads it.
 */
export function readPrivateFiles(files: readonly string[]): NonNullable<Reading['privateFiles']> {
  const found = files.flatMap((file) => {
    const status = statSync(file, { throwIfNoEntry: false })
    return status === undefined ? [] : [{ file, mode: status.mode & 0o777, uid: status.uid }]
  })
  const exposed = found.filter(({ mode, uid }) =>
    (mode & (uid === process.getuid?.() ? 0o077 : 0o037)) !== 0
  )
  // Windows has no modes.
  return { count: found.length, exposed: process.platform === 'win32' ? [] : exposed }
}

function existing(directory: string): string {
  return existsSync(directory) ? directory : existing(dirname(directory))
}

/** The kind of file system, by the longest mount point that the path lies in. */
function kindOf(place: string): string {
  const mounts = textOf('/proc/mounts').split('\n').flatMap((line) => {
    const [, point, kind] = line.split(' ')
    if (point === undefined || kind === undefined) return []
    const inside = point === '/' || place === point || place.startsWith(`${point}/`)
    return inside ? [{ point, kind }] : []
  })
  const longest = mounts.toSorted((one, other) => one.point.length - other.point.length).at(-1)
  return longest?.kind ?? 'an unknown kind of disk'
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
