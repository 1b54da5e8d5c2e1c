/**
 * Which run each worker executes, in a file that outlives the process: after a crash these are the
 * suspects. A worker writes its slot when it enters the code of another run; nothing is synced, for
 * the operating system keeps what a process has written, however that ends.
 */

import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync,
  writeSync } from 'node:fs'
import { join } from 'node:path'

/** Names a run, or an edit by an empty run id. */
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

/** Names that do not fit, at three bytes a character, are not marked: ours are much shorter. */
const slotBytes = 1024
const prefix = 'executing-'

export class ExecutionMarks {
  readonly #directory: string
  readonly #name: string
  readonly #fd: number
  readonly #taken = new Set<number>()

  /** `process` identifies this one. */
  constructor(directory: string, process: string) {
    this.#directory = directory
    this.#name = `${prefix}${process}`
    mkdirSync(directory, { recursive: true })
    this.#fd = openSync(join(directory, this.#name), 'w', 0o600)
  }

  /** A slot for a new worker. */
  take(): ExecutionMark {
    let slot = 0
    while (this.#taken.has(slot)) slot++
    this.#taken.add(slot)
    return { fd: this.#fd, slot }
  }

  /** The worker is gone, and its runs are elsewhere. */
  free(mark: ExecutionMark): void {
    clearMark(mark)
    this.#taken.delete(mark.slot)
  }

  /** What earlier processes were executing when they ended. Call it when the directory is ours. */
  left(): MarkedRun[] {
    return this.#earlier().flatMap((file) => {
      try {
        return runsIn(readFileSync(file))
      } catch {
        // A server that was refused this directory has just ended, and with it its file.
        return []
      }
    })
  }

  /** What they left is judged, and that is on disk. */
  forgetEarlier(): void {
    for (const file of this.#earlier()) rmSync(file, { force: true })
  }

  /** The process ends in order: nothing is left to be blamed. */
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

/** Called in the worker, each time it enters the code of another run. */
export function markRun({ fd, slot }: ExecutionMark, { tenant, threadId, runId }: MarkedRun): void {
  const text = `${JSON.stringify([tenant, threadId, runId])}\n`
  write({ fd, slot }, text.length < slotBytes / 3 ? text : '\n')
}

export function clearMark(mark: ExecutionMark): void {
  write(mark, '\n')
}

function write({ fd, slot }: ExecutionMark, text: string): void {
  try {
    writeSync(fd, text, slot * slotBytes)
  } catch {
    // The disk is full: then nobody can be blamed, but runs continue.
  }
}

function runsIn(bytes: Buffer): MarkedRun[] {
  const runs: MarkedRun[] = []
  for (let at = 0; at < bytes.length; at += slotBytes) {
    const [text] = bytes.toString('utf8', at, at + slotBytes).split('\n', 1)
    try {
      const [tenant, threadId, runId] = JSON.parse(text!) as string[]
      if (tenant !== undefined && threadId && runId) runs.push({ tenant, threadId, runId })
    } catch {
      // Empty, or cut off by the death of the machine: nobody is blamed.
    }
  }
  return runs
}
