/** Counts how often prompts are looked at and pulled. They are written down now and then. */

import type { Env } from '../../../../cluster/index.ts'
import type { Prompt } from './prompt.ts'

/** Views and downloads of a prompt that were counted and are not written down yet. */
export interface Counted {
  readonly prompt: Pick<Prompt, 'tenant' | 'id'>
  readonly views: number
  readonly downloads: number
}

/** Milliseconds between writes: a member that dies loses the counts of that time at most. */
const writtenEveryMs = 60_000
/** Prompts that are counted at a time. More are not. */
const promptsMax = 10_000

/** The counts of one member. */
export class PullCounts {
  readonly #env: Pick<Env, 'after' | 'log'>
  readonly #write: (counted: Counted) => Promise<void>
  #counted = new Map<string, Counted>()
  #stop: (() => void) | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(env: Pick<Env, 'after' | 'log'>, write: (counted: Counted) => Promise<void>) {
    this.#env = env
    this.#write = write
  }

  add(prompt: Prompt, what: 'views' | 'downloads'): void {
    const key = `${prompt.tenant}/${prompt.id}`
    const known = this.#counted.get(key)
    if (known === undefined && this.#counted.size >= promptsMax) return
    const { tenant, id } = prompt
    const counted = known ?? { prompt: { tenant, id }, views: 0, downloads: 0 }
    this.#counted.set(key, { ...counted, [what]: counted[what] + 1 })
    this.#stop ??= this.#env.after(writtenEveryMs, () => void this.flush())
  }

  /** The prompt with what this member counted. */
  with(prompt: Prompt): Prompt {
    const counted = this.#counted.get(`${prompt.tenant}/${prompt.id}`)
    if (counted === undefined) return prompt
    return { ...prompt, views: prompt.views + counted.views,
      downloads: prompt.downloads + counted.downloads }
  }

  /** Writes down what was counted. */
  async flush(): Promise<void> {
    this.#stop?.()
    this.#stop = undefined
    const counted = [...this.#counted.values()]
    this.#counted = new Map()
    this.#writing = this.#writing.then(() => this.#writeAll(counted))
    await this.#writing
  }

  /** One after the other: nobody waits for them. */
  async #writeAll(counted: readonly Counted[]): Promise<void> {
    for (const each of counted) {
      await this.#write(each).catch((error: unknown) =>
        this.#env.log.debug('The counts of a prompt are lost.', { error })
      )
    }
  }
}
