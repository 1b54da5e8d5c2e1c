/** Progress of a deployment, a row for each step: for people, or as JSON. */

import type { Env } from '../../../cluster/index.ts'
import { jsonLine } from '../control/control-command.ts'
import type { ControlCommandSource } from '../control/control-source.ts'

const [nameWidth, textWidth, secondsWidth] = [11, 58, 7]

/** A line for people, its figure at the right. */
function rowOf(name: string, text: string, ms?: number): string {
  const begin = `${name.padEnd(nameWidth)}${text}`
  if (ms === undefined) return `${begin}\n`
  const seconds = `${(ms / 1_000).toFixed(1)} s`.padStart(secondsWidth)
  return `${begin.padEnd(nameWidth + textWidth)} ${seconds}\n`
}

/** Clears the line that shows progress. */
const clear = '\r\u001b[K'

/** The rows of one command. */
export class StepRows {
  readonly #source: ControlCommandSource
  readonly #env: Env
  readonly #json: boolean
  #startMs: number
  #showsProgress = false

  constructor(source: ControlCommandSource, env: Env, json: boolean) {
    this.#source = source
    this.#env = env
    this.#json = json
    this.#startMs = env.monotonicMs()
  }

  /** Ends a step. Its time is that since the step before. */
  done(step: string, texts: readonly string[], data: object): void {
    const nowMs = this.#env.monotonicMs()
    const ms = Math.round(nowMs - this.#startMs)
    this.#startMs = nowMs
    this.#clear()
    if (this.#json) return this.#source.print(jsonLine({ step, ...data, ms }))
    const [first = '', ...more] = texts
    this.#source.print(rowOf(step, first, ms) + more.map((text) => rowOf('', text)).join(''))
  }

  /** Prints a line that belongs to no step. */
  say(name: string, text: string, data: object): void {
    this.#clear()
    this.#source.print(this.#json ? jsonLine(data) : rowOf(name, text))
  }

  /** Shows how far a step is, to a person alone; the next row takes its place. */
  progress(step: string, text: string): void {
    if (this.#json || !this.#source.isTerminal) return
    this.#showsProgress = true
    this.#source.note(`${clear}${rowOf(step, text).trimEnd()}`)
  }

  #clear(): void {
    if (this.#showsProgress) this.#source.note(clear)
    this.#showsProgress = false
  }
}
