/** A process in the world: it can be stopped and continued, and loses its memory when it ends. */

import type { Env, Details, Log } from '../../cluster/index.ts'
import { Chance } from './chance.ts'
import type { World } from './world.ts'

/**
 * running  its events happen
 * stopped  its events wait, including its own timers (SIGSTOP)
 * ended    nothing happens in it any more
 */
export type ProcessState = 'running' | 'stopped' | 'ended'

const startMs = Date.UTC(2026, 0, 1)

export class Process {
  readonly name: string
  readonly world: World
  /** The error of its wall clock. */
  skewMs: number
  readonly #waiting: (() => void)[] = []
  /** Its own, so that what a process decides by chance changes nothing elsewhere. */
  readonly #chance: Chance
  #state: ProcessState = 'running'
  #ids = 0

  constructor(world: World, name: string) {
    this.world = world
    this.name = name
    this.skewMs = world.chance.between(-60_000, 60_000)
    this.#chance = new Chance(Math.floor(this.skewMs))
  }

  get state(): ProcessState {
    return this.#state
  }

  stop(): void {
    if (this.#state === 'running') this.#state = 'stopped'
  }

  /** Events that waited happen in any order, while new ones arrive. */
  resume(): void {
    if (this.#state !== 'stopped') return
    this.#state = 'running'
    const { chance } = this.world
    for (const fn of this.#waiting.splice(0)) this.after(chance.between(0, 3), fn)
  }

  end(): void {
    this.#state = 'ended'
    this.#waiting.length = 0
  }

  /** Calls `fn` in the process after `ms`, or once it continues after that. */
  after(ms: number, fn: () => void): () => void {
    let calledOff = false
    const happen = () => {
      if (calledOff || this.#state === 'ended') return
      if (this.#state === 'stopped') this.#waiting.push(happen)
      else fn()
    }
    const cancel = this.world.wakeAfter(ms, happen)
    return () => {
      calledOff = true
      cancel()
    }
  }

  readonly env: Env = {
    nowMs: () => startMs + Math.floor(this.world.nowMs + this.skewMs),
    monotonicMs: () => this.world.nowMs,
    idleMs: () => this.world.nowMs,
    after: (ms, fn) => this.after(ms, fn),
    every: (ms, fn) => {
      let cancel = () => {}
      const again = () => {
        cancel = this.after(ms, () => {
          again()
          fn()
        })
      }
      again()
      return () => cancel()
    },
    uuid: () => this.#id('4'),
    uuid7: () => this.#id('7'),
    random: () => this.#chance.number(),
    secret: () => this.#id('4').padEnd(43, '_'),
    log: this.#log({}),
  }

  #id(version: string): string {
    const number = [...this.name].reduce((sum, each) => sum * 131 + each.charCodeAt(0), 7) % 2 ** 31
    return `${number.toString(16).padStart(8, '0')}-0000-${version}000-8000-` +
      (++this.#ids).toString(16).padStart(12, '0')
  }

  #log(own: Details): Log {
    const debug = () => {}
    const say = (message: string, details: Details = {}) =>
      this.world.note(() => `${this.name} says: ${message}${reasonOf({ ...own, ...details })}`)
    return { debug, info: say, warn: say, error: say, child: (details) => this.#log(details) }
  }
}

function reasonOf({ error }: Details): string {
  return error === undefined ? '' : ` (${String(error)})`
}
