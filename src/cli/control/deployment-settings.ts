/** Settings of a deployment as they are typed: `key=value`. */

import type { DeploymentBody } from '../../api/index.ts'
import type { DeploymentLimits, RequestLimit } from '../../deployment/index.ts'
import { isRunShare } from '../../settings/index.ts'
import { CommandError } from '../admin-command.ts'
import { wholeNumber } from './whole-number.ts'

const limitKeys = ['workers', 'memory_mb', 'concurrency', 'run_timeout_s',
  'body_mb'] as const satisfies readonly (keyof DeploymentLimits)[]

const yesOrNo: Readonly<Record<string, string>> = { true: 'yes', false: 'no' }

/** Names of all settings of a deployment. */
export const settingKeys: readonly string[] = [...limitKeys, 'requests', 'record', 'access',
  'hosts', 'paused']

type Writable<Given> = { -readonly [Name in keyof Given]: Given[Name] }

/** The body of a change. Throws CommandError. */
export function changesIn(words: readonly string[]): DeploymentBody {
  if (words.length === 0) {
    throw new CommandError(`Say what to set, as memory_mb=1024: ${settingKeys.join(', ')}`,
      'misused')
  }
  const limits: Writable<NonNullable<DeploymentBody['limits']>> = {}
  const changes: Writable<DeploymentBody> = {}
  for (const word of words) {
    const at = word.indexOf('=')
    const [key, value] = at === -1 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)]
    const limit = limitKeys.find((each) => each === key)
    if (limit !== undefined) {
      limits[limit] = wholeNumber(key, value, { least: 1, most: 999_999_999 })
    } else if (key === 'requests') limits.requests = requestLimit(value)
    else if (key === 'record') changes.record = recordIn(key, value)
    else if (key === 'access')
      changes.access = oneOf(key, value, { 'own': 'own', 'any': 'any' } as const)
    else if (key === 'paused')
      changes.paused = oneOf(key, yesOrNo[value] ?? value, { yes: true, no: false })
    else if (key === 'hosts') changes.hosts = value.split(',').filter((host) => host !== '')
    else {
      throw new CommandError(`"${word}" cannot be set: use ${settingKeys.join(', ')}`, 'misused')
    }
  }
  return { ...changes, ...Object.keys(limits).length > 0 && { limits } }
}

/** A limit as it is typed: `600/60s`, or `none`. */
export function requestLimitText(limit: RequestLimit | null): string {
  return limit === null ? 'none' : `${limit.count}/${limit.interval_s}s`
}

/**
 * The share of runs that are recorded, as it is typed: `10%`, `all` or `off`; null for `project`,
 * which is what langgraph.json says. Throws CommandError.
 */
export function recordIn(option: string, typed: string): string | null {
  if (typed === 'project') return null
  if (isRunShare(typed)) return typed
  throw new CommandError(`${option} must be off, all, a share of runs like 10%, or project for ` +
    `what langgraph.json says, not "${typed}"`, 'misused')
}

function requestLimit(typed: string): RequestLimit | null {
  if (typed === 'none') return null
  const [, count, seconds] = /^(\d{1,7})\/(\d{1,5})s$/.exec(typed) ?? []
  if (count !== undefined) return { count: Number(count), interval_s: Number(seconds) }
  throw new CommandError('requests must be a number and the seconds that it is for, as 600/60s, ' +
    `or none, not "${typed}"`, 'misused')
}

function oneOf<T>(key: string, typed: string, values: Readonly<Record<string, T>>): T {
  if (Object.hasOwn(values, typed)) return values[typed]!
  throw new CommandError(`${key} must be ${Object.keys(values).join(' or ')}, not "${typed}"`,
    'misused')
}
