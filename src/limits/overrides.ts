/** An operator's own limits, from a file: `{"default-key": {"count": 5000}}`. */

import { HeddleError } from '../errors.ts'
import { isObject } from '../json/index.ts'
import { namesOf, readSettingFile } from '../settings/index.ts'
import { rateLimits } from './limit-rows.ts'
import type { LimitOverride } from './limit-rows.ts'

const fields = ['count', 'intervalSeconds'] as const
const most = { count: 1_000_000, intervalSeconds: 86_400 }

/** Reads the file. Throws HeddleError with a message that names the field and the file. */
export function readLimitOverrides(file: string): ReadonlyMap<string, LimitOverride> {
  const wrong = (message: string, cause?: unknown) => {
    throw new HeddleError('invalid', `${namesOf('limitOverrides')}: ${message} in ${file}.`, {}, {
      cause,
    })
  }
  let parsed: unknown
  const text = readSettingFile('limitOverrides', file)
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    return wrong('there is no JSON', error)
  }
  if (!isObject(parsed)) return wrong('there is no object of limits by their names')
  const names = new Set(rateLimits('us').map(({ name }) => name))
  return new Map(Object.entries(parsed).map(([name, override]) => {
    if (!names.has(name)) return wrong(`there is no limit named "${name}", as there is`)
    if (!isObject(override)) return wrong(`"${name}" is no object with count or intervalSeconds`)
    for (const [field, value] of Object.entries(override)) {
      const known = fields.find((each) => each === field)
      if (known === undefined) return wrong(`"${name}" has a field "${field}" that is not known`)
      if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > most[known]) {
        return wrong(`"${name}.${field}" is no whole number from 1 to ${most[known]}`)
      }
    }
    return [name, override as LimitOverride]
  }))
}
