/** Reads settings from options and the environment, and collects what is wrong with them. */

import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

import { messageOf } from '../errors.ts'
import { knownSettings, namesOf } from './known-settings.ts'
import type { SettingName, ValueOf } from './known-settings.ts'
import type { Setting } from './setting.ts'

/** Sources of settings: options, the environment, and the folder of relative paths. */
export interface SettingsSource {
  /** Typed options, by the name of the setting; flags without a value are booleans. */
  readonly options: Readonly<Partial<Record<SettingName, string | boolean | readonly string[]>>>
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The folder that relative paths start from. */
  readonly folder: string
  /** The project to serve if none is named. */
  readonly starter: string
}

/** Reads one setting after another. Read each once: a mistake is noted each time. */
export class SettingsReader {
  /** A sentence for each mistake. */
  readonly mistakes: string[] = []
  readonly #source: SettingsSource

  constructor(source: SettingsSource) {
    this.#source = source
  }

  /** The value of a setting; its default if it is not given, or given wrong. */
  value<Name extends SettingName>(name: Name): ValueOf<Name> {
    const { kind, fallback } = knownSettings[name] as Setting<ValueOf<Name>>
    const text = this.#given(name)
    if (text === '') return fallback
    const reading = kind.read(text)
    if (!('faults' in reading)) return reading.value ?? fallback
    for (const fault of reading.faults) this.#mistake(name, fault)
    return fallback
  }

  /** True if an option or a variable sets it. */
  isGiven(name: SettingName): boolean {
    return this.#given(name) !== ''
  }

  /** The text of a setting. It is empty if none is given, which is a mistake. */
  required(name: SettingName, when: string): string {
    const text = this.#given(name)
    if (text === '') this.#mistake(name, `is needed ${when}`)
    return text
  }

  /** An absolute path; undefined if none is given. */
  path(name: SettingName): string | undefined {
    const path = this.#given(name)
    return path === '' ? undefined : resolve(this.#source.folder, path)
  }

  /** The absolute path of the file that a secret is in; undefined if it is in none. */
  fileOf(name: SettingName): string | undefined {
    const { variable, isSecret } = knownSettings[name]
    const { options, environment, folder } = this.#source
    const file = environment[`${variable}_FILE`]
    if (!isSecret || !file || options[name] || environment[variable]) return undefined
    return resolve(folder, file)
  }

  /** The option, or else the variable; empty if neither is given. */
  #given(name: SettingName): string {
    const typed = this.#source.options[name]
    const text = typeof typed === 'boolean' ? typed ? 'yes' : 'no' : [typed ?? []].flat().join(',')
    if (text !== '') return text
    const { variable, isSecret } = knownSettings[name]
    return this.#source.environment[variable] || (isSecret ? this.#secretOf(variable) : '')
  }

  /** Content of the file that `<variable>_FILE` names, without the end of its line. */
  #secretOf(secret: string): string {
    const variable = `${secret}_FILE`
    const file = this.#source.environment[variable]
    if (!file) return ''
    try {
      return readFileSync(resolve(this.#source.folder, file), 'utf8').replace(/\r?\n$/, '')
    } catch (error) {
      this.mistakes.push(`${variable}: ${file} cannot be read: ${messageOf(error)}.`)
      return ''
    }
  }

  #mistake(name: SettingName, what: string): void {
    this.mistakes.push(`${namesOf(name)} ${what}.`)
  }
}
