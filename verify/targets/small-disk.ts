/** A fault of the disk: the file system of the data directory is full. */

import { execFile } from 'node:child_process'
import { mkdir, open, rm, statfs } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

/** Bytes of the disk, and bytes that are left before it is filled. */
const [sizeBytes, leftBytes] = [2 ** 30, 2 ** 20]
const pageBytes = 4_096
/** The server deletes files and truncates them, so the disk is filled again and again. */
const refillMs = 20

const run = promisify(execFile)

export interface SmallDisk {
  /** A data directory on the disk. */
  readonly dataDir: string
  /** Keeps the disk full until the function has finished. */
  whileFull(run: () => Promise<void>): Promise<void>
  /** Unmounts the disk. No process may use it any more. */
  close(): Promise<void>
}

/**
 * Mounts a disk in memory in a folder. Resolves with undefined if this user may not mount, which
 * needs root on Linux.
 */
export async function mountSmallDisk(folder: string): Promise<SmallDisk | undefined> {
  const disk = join(folder, 'disk')
  await mkdir(disk)
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${sizeBytes}`, 'tmpfs', disk])
  } catch (error) {
    console.log(`Without a full disk: ${(error as Error).message.trim().split('\n').at(-1)}`)
    return undefined
  }
  const dataDir = join(disk, 'data')
  await mkdir(dataDir)
  return {
    dataDir,
    whileFull: (meanwhile) => fillDisk(disk, meanwhile),
    // A process of a deployment may end a moment after its server.
    close: async () => void await run('umount', ['--lazy', disk]),
  }
}

async function fillDisk(disk: string, meanwhile: () => Promise<void>): Promise<void> {
  const filler = join(disk, 'filler')
  const file = await open(filler, 'w')
  const ended = new AbortController()
  try {
    const { blocks, bfree, bsize } = await statfs(disk)
    await resize(disk, (blocks - bfree) * bsize + leftBytes)
    await fill(file)
    await Promise.all([
      meanwhile().finally(() => ended.abort()),
      keepFull(file, ended.signal),
    ])
  } finally {
    await resize(disk, sizeBytes)
    await file.close()
    await rm(filler)
  }
}

async function resize(disk: string, bytes: number): Promise<void> {
  await run('mount', ['-o', `remount,size=${bytes}`, disk])
}

async function keepFull(file: FileHandle, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await fill(file)
    await pause(refillMs)
  }
}

/** Appends to the file until no page is left on its disk. */
async function fill(file: FileHandle): Promise<void> {
  while (await canAppend(file, Buffer.alloc(pageBytes))) continue
}

async function canAppend(file: FileHandle, bytes: Buffer): Promise<boolean> {
  try {
    return (await file.write(bytes)).bytesWritten > 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false
    throw error
  }
}
