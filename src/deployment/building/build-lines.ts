/** The lines of a build, which are kept as events: those of a moment together, and not too many. */

import type { Env } from '../../../cluster/index.ts'
import type { Deployments } from '../deployments.ts'
import type { Build } from './build-record.ts'

/** Lines of a build that are kept, and their characters. */
const [linesMax, charactersMax] = [10_000, 1_000_000]
/** Lines are written this often: each writing is a row in two tables. */
const togetherMs = 250
/** Characters of one event. */
const togetherCharacters = 30_000

/** Writes the lines of one build. */
export class BuildLines {
  readonly #records: Pick<Deployments, 'note'>
  readonly #build: Build
  readonly #member: string
  readonly #env: Pick<Env, 'after' | 'log'>
  #lines: string[] = []
  #characters = 0
  #left = { lines: linesMax, characters: charactersMax }
  #writing: Promise<void> = Promise.resolve()
  #stopTimer: (() => void) | undefined

  constructor(records: Pick<Deployments, 'note'>, build: Build, member: string,
    env: Pick<Env, 'after' | 'log'>) {
    this.#records = records
    this.#build = build
    this.#member = member
    this.#env = env
  }

  /** Adds a line. Lines beyond the bounds are left out, and a last line says so. */
  add(text: string): void {
    const { lines, characters } = this.#left
    if (lines === 0) return
    const isLast = lines === 1 || text.length > characters
    this.#left = { lines: isLast ? 0 : lines - 1, characters: characters - text.length }
    const line = isLast ? 'Further lines are not kept.' : text
    this.#lines.push(line)
    this.#characters += line.length
    if (this.#characters > togetherCharacters) this.#write()
    else this.#stopTimer ??= this.#env.after(togetherMs, () => this.#write())
  }

  /** Resolves when all lines can be read. */
  async end(): Promise<void> {
    this.#write()
    await this.#writing
  }

  #write(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    if (this.#lines.length === 0) return
    const text = this.#lines.join('\n')
    this.#lines = []
    this.#characters = 0
    const { deploymentId, revision, by } = this.#build
    this.#writing = this.#writing.then(async () => {
      await this.#records.note(deploymentId, { kind: 'build', by,
        data: { revision, level: 'info', member: this.#member, text } })
    }).catch((error: unknown) =>
      this.#env.log.warn('Lines of a build are lost.', { error, revision })
    )
  }
}
