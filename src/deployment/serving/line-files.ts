/** The last lines of each revision on this member's disk: they outlive a restart. */

import { appendFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { limitConcurrency, throttleLog } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import type { NewLine } from './deployment-lines.ts'

/** Bounds of what is kept: bytes of a revision, and revisions of a deployment. */
export const lineFileLimits = { bytes: 256 * 1024, revisions: 20 } as const

const [folderMode, fileMode] = [0o700, 0o600]
const quietMs = 60_000
/** Names that a file of lines has. */
const fileForm = /^(r\d{1,15})\.jsonl$/

interface StoredLine extends NewLine {
  readonly life: string
}

/**
 * Appends lines, and keeps the newest half of a file that is full. A line is on disk soon after it
 * was written; a disk that takes none costs lines and nothing else.
 */
export class LineFiles {
  readonly #directory: string
  readonly #alone = limitConcurrency(1)
  readonly #sizes = new Map<string, number>()
  readonly #warn: (report: (omitted: number) => void) => void
  readonly #env: Pick<Env, 'log' | 'monotonicMs'>
  /** Id of this process, which marks its lines. Lines of earlier processes have other ids. */
  readonly #life: string
  /** Lines that are not on disk yet, by deployment. */
  #waiting = new Map<string, NewLine[]>()
  #isWriting = false

  /** `directory` is made when it is needed. */
  constructor(directory: string, env: Pick<Env, 'log' | 'monotonicMs' | 'uuid'>) {
    this.#directory = directory
    this.#env = env
    this.#life = env.uuid()
    this.#warn = throttleLog(env, quietMs)
  }

  /** Adds lines of a deployment, by its id. Never throws. */
  add(id: string, lines: readonly NewLine[]): void {
    const waiting = this.#waiting.get(id) ?? []
    waiting.push(...lines)
    this.#waiting.set(id, waiting)
    if (this.#isWriting) return
    this.#isWriting = true
    void this.#alone(() => this.#writeAll())
  }

  /** The lines of a deployment that processes before this one kept, the oldest first. */
  read(id: string): Promise<readonly NewLine[]> {
    return this.#alone(async () => {
      const folder = join(this.#directory, id)
      const names = (await readdir(folder).catch(() => [])).filter((name) => fileForm.test(name))
      const texts = await Promise.all(
        names.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')),
      )
      return texts.flatMap(linesIn).filter(({ life }) => life !== this.#life)
        .map(({ life: _, ...line }) => line)
        .toSorted((one, other) => one.atMs - other.atMs)
    })
  }

  /** Removes the lines of all other deployments. */
  keep(ids: ReadonlySet<string>): Promise<void> {
    return this.#alone(async () => {
      const found = await readdir(this.#directory).catch(() => [])
      for (const id of found.filter((each) => !ids.has(each))) {
        for (const file of this.#sizes.keys())
          if (file.startsWith(join(this.#directory, id))) {
            this.#sizes.delete(file)
          }
        await rm(join(this.#directory, id), { recursive: true, force: true })
      }
    })
  }

  /** Resolves when all that was added is on disk, or cannot be. */
  settled(): Promise<void> {
    return this.#alone(async () => {})
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      const waiting = this.#waiting
      this.#waiting = new Map()
      for (const [id, lines] of waiting) {
        await this.#write(id, lines).catch((error: unknown) =>
          this.#warn((omitted) =>
            this.#env.log.warn('Lines of a deployment cannot be kept on disk.', { omitted, error })
          )
        )
      }
    }
    this.#isWriting = false
  }

  async #write(id: string, lines: readonly NewLine[]): Promise<void> {
    const folder = join(this.#directory, id)
    const byRevision = Map.groupBy(lines, ({ revision }) => revision)
    for (const [revision, own] of byRevision) {
      const name = `${revision}.jsonl`
      if (!fileForm.test(name)) continue
      const file = join(folder, name)
      const text = lastBytes(
        own.map((line) => `${JSON.stringify({ ...line, life: this.#life })}\n`).join(''),
        lineFileLimits.bytes / 2,
      )
      const size = this.#sizes.get(file) ?? await this.#open(folder, file)
      if (size + Buffer.byteLength(text) > lineFileLimits.bytes) {
        const before = await readFile(file, 'utf8')
        const kept = lastBytes(before + text, lineFileLimits.bytes / 2)
        await writeFile(`${file}.new`, kept, { mode: fileMode })
        await rename(`${file}.new`, file)
        this.#sizes.set(file, Buffer.byteLength(kept))
      } else {
        await appendFile(file, text, { mode: fileMode })
        this.#sizes.set(file, size + Buffer.byteLength(text))
      }
    }
  }

  /** The size of a file, for which there is room among the revisions. */
  async #open(folder: string, file: string): Promise<number> {
    const size = await stat(file).then(({ size: bytes }) => bytes, () => undefined)
    if (size !== undefined) return size
    await mkdir(folder, { recursive: true, mode: folderMode })
    const names = (await readdir(folder)).filter((name) => fileForm.test(name))
      .toSorted((one, other) => numberOf(one) - numberOf(other))
    const tooMany = Math.max(0, names.length + 1 - lineFileLimits.revisions)
    for (const name of names.slice(0, tooMany)) {
      this.#sizes.delete(join(folder, name))
      await rm(join(folder, name), { force: true })
    }
    return 0
  }
}

function numberOf(name: string): number {
  return Number(fileForm.exec(name)![1]!.slice(1))
}

/** The last whole lines that fit. */
function lastBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= bytesMax) return text
  const rest = bytes.subarray(bytes.length - bytesMax)
  return rest.subarray(rest.indexOf('\n') + 1).toString()
}

/** Lines of a text. The last one may be cut off, because a process was killed. */
function linesIn(text: string): readonly StoredLine[] {
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as StoredLine]
    } catch {
      return []
    }
  })
}
