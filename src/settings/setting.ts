/** One setting of a server: how it is given, what it does, and how its text is read. */

import type { Kind } from './setting-kind.ts'

/** Groups of settings in the order of `--help`, with the pages that say more. */
export const settingGroups = {
  serve: { heading: 'Serve', pages: ['runs', 'data-directory', 'sizing'] },
  access: { heading: 'Access', pages: ['access', 'egress', 'models'] },
  store: { heading: 'Store', pages: ['data-directory', 'cassandra'] },
  cluster: { heading: 'Cluster', pages: ['cluster', 'regions'] },
  limits: { heading: 'Limits', pages: ['limits'] },
  observability: { heading: 'Observability', pages: ['observability'] },
} as const

/** The name of a group of settings. */
export type SettingGroup = keyof typeof settingGroups

/** A setting. Parsing, `--help` and the page of settings come from it. */
export interface Setting<Value> {
  /** The option, as commander has it: `--port <number>`. */
  readonly flags: string
  /** The environment variable. */
  readonly variable: string
  readonly group: SettingGroup
  readonly kind: Kind<Value>
  /** The default. Undefined where it depends on other settings. */
  readonly fallback: Value
  /** The default in words, in Markdown. Empty if there is none. */
  readonly usual: string
  /** Effect of the setting, in Markdown. */
  readonly message: string
  /** Graphs never see it, and `<variable>_FILE` may name a file that has it. */
  readonly isSecret: boolean
}

/** Declaration of a setting; the default in words is the default where that is a word. */
type Declared<Value, Fallback> = Pick<Setting<Value>, 'message'> & {
  readonly kind: Kind<Value>
  readonly fallback: Fallback
  readonly usual?: string
  readonly isSecret?: boolean
}

/** Declares the settings of a group, each by its flags and its variable. */
export function settingsOf(group: SettingGroup) {
  return <const Value, const Fallback extends Value | undefined>(flags: string, variable: string,
    { usual, isSecret = false, ...declared }: Declared<Value, Fallback>
  ): Setting<Value | Extract<Fallback, undefined>> => {
    const { fallback } = declared
    const isWord = typeof fallback === 'string' || typeof fallback === 'number'
    return { ...declared as Declared<Value, Value | Extract<Fallback, undefined>>, flags, variable,
      group, isSecret, usual: usual ?? (isWord ? `${fallback}` : '') }
  }
}
