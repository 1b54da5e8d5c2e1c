/** Reads settings from options and the environment, and checks them. */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

import { ipAddress, ipRange } from './ip-address.ts'
import type { IpRange } from './ip-address.ts'
import { knownSettings, namesOf } from './known-settings.ts'
import type { SettingName } from './known-settings.ts'

export interface SettingsSource {
  /** What was typed, by the name of the setting; flags without a value are booleans. */
  readonly options: Readonly<Partial<Record<SettingName, string | boolean | readonly string[]>>>
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The folder that relative paths start from. */
  readonly folder: string
  /** The project to serve if none is named. */
  readonly starter: string
}

/** Reads one setting after another and collects what is wrong. */
export class SettingsReader {
  readonly mistakes: string[] = []
  readonly #source: SettingsSource

  constructor(source: SettingsSource) {
    this.#source = source
  }

  text(name: SettingName, fallback: string): string {
    const given = this.#given(name)
    return typeof given === 'string' ? given : fallback
  }

  /** Empty if it is missing, which is a mistake. */
  required(name: SettingName, when: string): string {
    const text = this.text(name, '')
    if (text === '') this.#mistake(name, `is needed ${when}`)
    return text
  }

  list(name: SettingName, fallback: readonly string[]): readonly string[] {
    const texts = this.text(name, '').split(',').map((text) => text.trim())
    const named = texts.filter((text) => text !== '')
    return named.length > 0 ? named : fallback
  }

  /** Absolute; undefined if none is given. */
  path(name: SettingName): string | undefined {
    const path = this.text(name, '')
    return path === '' ? undefined : resolve(this.#source.folder, path)
  }

  /** Some of the words; by default all of them. */
  words<T extends string>(name: SettingName, known: readonly T[]): readonly T[] {
    const named = this.list(name, known)
    const strange = named.find((word) => !known.some((one) => one === word))
    if (strange === undefined) return known.filter((word) => named.includes(word))
    return this.#mistaken(name, strange, `must be some of ${known.join(', ')}`, known)
  }

  wholeNumber(name: SettingName, { fallback, min, max }: {
    fallback: number
    min: number
    max: number
  }): number {
    const text = this.text(name, `${fallback}`)
    const number = /^\d+$/.test(text) ? Number(text) : NaN
    if (number >= min && number <= max) return number
    return this.#mistaken(name, text, `must be a whole number from ${min} to ${max}`, fallback)
  }

  yesOrNo(name: SettingName, fallback: boolean): boolean {
    const given = this.#given(name)
    if (typeof given === 'boolean') return given
    const text = this.text(name, fallback ? 'yes' : 'no').toLowerCase()
    if (/^(yes|true|1|on)$/.test(text)) return true
    if (/^(no|false|0|off)$/.test(text)) return false
    return this.#mistaken(name, text, 'must be yes or no', fallback)
  }

  oneOf<T extends string>(name: SettingName, words: readonly T[], fallback: T): T {
    const text = this.text(name, fallback)
    return words.find((word) => word === text) ??
      this.#mistaken(name, text, `must be one of ${words.join(', ')}`, fallback)
  }

  /** Undefined if none is given. A mistake does not repeat it: it may contain a password. */
  webAddress(name: SettingName): string | undefined {
    const text = this.text(name, '')
    if (text === '' || /^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text || undefined
    this.#mistake(name, 'must be an http(s) URL')
    return undefined
  }

  ranges(name: SettingName): readonly IpRange[] {
    return this.list(name, []).flatMap((text) => {
      const range = ipRange(text)
      return range !== undefined ?
        [range]
        : this.#mistaken(name, text, 'must list addresses or ranges like 10.0.0.0/8', [])
    })
  }

  /** Names of variables; `*` at the end stands for any rest. */
  variables(name: SettingName, fallback: readonly string[]): readonly string[] {
    return this.list(name, fallback).map((text) =>
      /^\w*\*?$/.test(text) ?
        text
        : this.#mistaken(name, text, 'must list names of variables like A_KEY or A_*', text)
    )
  }

  targets(name: SettingName): readonly string[] {
    return this.list(name, []).map((text) =>
      isTarget(text) ?
        text :
        this.#mistaken(name, text, 'must be addresses, ranges like 10.1.0.0/16 and names of hosts',
          text)
    )
  }

  origins(name: SettingName): readonly string[] {
    return this.#several(name).map((text) =>
      isOrigin(text) ?
        text
        : this.#mistaken(name, text, 'must be an origin like https://example.org', text)
    )
  }

  hosts(name: SettingName): readonly string[] {
    return this.#several(name).map((text) =>
      isHost(text) ?
        text
        : this.#mistaken(name, text, 'must be a name like heddle.internal, without a port', text)
    )
  }

  /** `us=https://…,eu=https://…`; empty for a name that is not given. */
  urlsOf<T extends string>(name: SettingName, known: readonly T[]): Record<T, string> {
    const urls = Object.fromEntries(known.map((each) => [each, ''])) as Record<T, string>
    for (const pair of this.list(name, [])) {
      const [, word, url = ''] = /^(\w+)=(https?:\/\/.+)$/.exec(pair) ?? []
      const found = known.find((each) => each === word)
      if (found !== undefined && URL.canParse(url)) urls[found] = url
      else this.#mistaken(name, pair, `must be like ${known[0]}=https://example.org`, pair)
    }
    return urls
  }

  /** Given after each other, or separated by commas. */
  #several(name: SettingName): readonly string[] {
    const given = [this.#given(name) ?? []].flat()
    return given.flatMap((each) => `${each}`.split(',')).map((text) => text.trim())
      .filter((text) => text !== '')
  }

  /** The option, or else the variable; an empty text counts as not given. */
  #given(name: SettingName): string | boolean | readonly string[] | undefined {
    const typed = this.#source.options[name]
    if (typed !== undefined && typed !== '') return typed
    const { variable, isSecret } = knownSettings[name]
    return this.#source.environment[variable] || (isSecret ? this.#secretOf(name) : undefined)
  }

  /** What is in the file that `<variable>_FILE` names, without the end of its line. */
  #secretOf(name: SettingName): string | undefined {
    const variable = `${knownSettings[name].variable}_FILE`
    const file = this.#source.environment[variable]
    if (!file) return undefined
    try {
      return readFileSync(resolve(this.#source.folder, file), 'utf8').replace(/\r?\n$/, '')
    } catch (error) {
      this.mistakes.push(`${variable}: ${file} cannot be read: ${(error as Error).message}.`)
      return undefined
    }
  }

  #mistaken<T>(name: SettingName, text: string, rule: string, fallback: T): T {
    this.#mistake(name, `${rule}, not "${text}"`)
    return fallback
  }

  #mistake(name: SettingName, what: string): void {
    this.mistakes.push(`${namesOf(name)} ${what}.`)
  }
}

function isTarget(text: string): boolean {
  return ipRange(text) !== undefined || /^[a-z\d-]+(\.[a-z\d-]+)*$/i.test(text)
}

function isHost(text: string): boolean {
  return text === '*' || ipAddress(text) !== undefined || /^[\w-]+(\.[\w-]+)*$/.test(text)
}

function isOrigin(text: string): boolean {
  return text === '*' || (URL.canParse(text) && new URL(text).origin === text)
}
