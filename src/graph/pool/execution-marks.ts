/**
 * The run that each worker executes, in a file that outlives the process. After a crash these runs
 * are the suspects. A worker writes its slot when it enters the code of another run. The file is
 * never synced, because the operating system keeps what a process has written, however the process
 * ends.
 */

import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync,
  writeSync } from 'node:fs'
import { join } from 'node:path'

import { listOf, valueIn } from '../../json/index.ts'

/** Names a run. An edit has an empty run id. */
export interface MarkedRun {
  readonly tenant: string
  readonly threadId: string
  readonly runId: string
}

/** The place of one worker in the file, as plain data. */
export interface ExecutionMark {
  readonly fd: number
  readonly slot: number
}

/** Bytes of a slot. Names that do not fit are not marked; ours are much shorter. */
const slotBytes = 1024
const prefix = 'executing-'

/** The file of this process, and those that earlier processes left. Belongs to the server. */
export class ExecutionMarks {
  readonly #directory: string
  readonly #name: string
  readonly #fd: number
  readonly #taken = new Set<number>()

  /** `process` identifies this process. */
  constructor(directory: string, process: string) {
    this.#directory = directory
    this.#name = `${prefix}${process}`
    mkdirSync(directory, { recursive: true })
    this.#fd = openSync(join(directory, this.#name), 'w', 0o600)
  }

  /** Takes a slot for a new worker. */
  take(): ExecutionMark {
    let slot = 0
    while (this.#taken.has(slot)) slot++
    this.#taken.add(slot)
    return { fd: this.#fd, slot }
  }

  /** Frees the slot of a worker that has ended, when its runs are elsewhere. */
  free(mark: ExecutionMark): void {
    clearMark(mark)
    this.#taken.delete(mark.slot)
  }

  /**
   * Runs that earlier processes were executing when they ended. Call when the directory is ours.
   */
  left(): MarkedRun[] {
    return this.#earlier().flatMap((file) => {
      try {
        return runsIn(readFileSync(file))
      } catch {
        // A server that was refused this directory has just ended, and its file with it.
        return []
      }
    })
  }

  /** Removes what earlier processes left. Call when it is judged, and that is on disk. */
  forgetEarlier(): void {
    for (const file of this.#earlier()) rmSync(file, { force: true })
  }

  /** Closes the file of a process that ends in order, so that no run is blamed. */
  close(): void {
    closeSync(this.#fd)
    rmSync(join(this.#directory, this.#name), { force: true })
  }

  #earlier(): string[] {
    return readdirSync(this.#directory)
      .filter((name) => name.startsWith(prefix) && name !== this.#name)
      .map((name) => join(this.#directory, name))
  }
}

/** Marks a run. Called in the worker each time it enters the code of another run. */
export function markRun({ fd, slot }: ExecutionMark, { tenant, threadId, runId }: MarkedRun): void {
  const text = `${JSON.stringify([tenant, threadId, runId])}\n`
  write({ fd, slot }, text.length < slotBytes / 3 ? text : '\n')
}

/** Empties a slot, so that a crash from now on blames no run. */
export function clearMark(mark: ExecutionMark): void {
  write(mark, '\n')
}

function write({ fd, slot }: ExecutionMark, text: string): void {
  try {
    writeSync(fd, text, slot * slotBytes)
  } catch {
    // The disk is full. No run can be blamed then, but runs continue.
  }
}

function runsIn(bytes: Buffer): MarkedRun[] {
  const runs: MarkedRun[] = []
  for (let at = 0; at < bytes.length; at += slotBytes) {
    const [text] = bytes.toString('utf8', at, at + slotBytes).split('\n', 1)
    try {
      const [tenant, threadId, runId] = listOf(valueIn(text!))
      const isWhole = typeof tenant === 'string' && typeof threadId === 'string' &&
        typeof runId === 'string'
      if (isWhole && threadId && runId) runs.push({ tenant, threadId, runId })
    } catch {
      // The slot is empty, or cut off by the death of the machine. No run is blamed.
    }
  }
  return runs
}
