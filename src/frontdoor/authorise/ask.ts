/** Asks the login of a project whether a caller may do something, and reads its answer. */

import { isDeepStrictEqual } from 'node:util'

import type { Log } from '../../../cluster/index.ts'
import type { AskedEvent } from '../../api/index.ts'
import type { HeddleError } from '../../errors.ts'
import type { ActionAnswer, AskedAction, ProjectLogin } from '../../graph/index.ts'
import { isObject } from '../../json/index.ts'
import { readMetadataFilter } from '../../search/index.ts'
import type { MetadataFilter } from '../../search/index.ts'
import type { Asking } from './asking.ts'
import { loginFault, refusalOf } from './refusal.ts'

/** Details of what is asked for, as JSON. */
export type AskedValue = Readonly<Record<string, unknown>>

/** The rest of what was asked for, as a login has left it. */
export interface Allowed {
  /** As it was asked, with what the handler changed of it. */
  readonly value: AskedValue
  /** Only what matches is there for the caller; undefined if everything is. */
  readonly filter?: MetadataFilter | undefined
}

/** Asks before something is done. Throws a handler's refusal, and 500 for nonsense. */
export type Ask = (caller: Asking, event: AskedEvent, value: AskedValue) => Promise<Allowed>

/**
 * The members of a value that a handler may change, by event. Others may only be added to: they
 * are not read again. What a handler changes besides is no answer that can be kept.
 */
const mutable: Readonly<Record<string, readonly string[]>> = {
  'assistants:create': ['metadata'],
  'assistants:update': ['metadata'],
  'threads:create': ['metadata'],
  'threads:update': ['metadata'],
  'threads:create_run': ['metadata'],
  'crons:create': ['metadata'],
  'crons:update': ['metadata'],
  'store:put': ['namespace', 'key', 'value'],
  'store:get': ['namespace', 'key'],
  'store:delete': ['namespace', 'key'],
  'store:search': ['namespace', 'filter'],
  'store:list_namespaces': ['namespace'],
}

/** Names of handlers for an event, in the order in which they are looked for. */
function handlerNames(event: AskedEvent): readonly string[] {
  const [resource, action] = event.split(':')
  return [event, resource!, `*:${action}`, '*']
}

/** Makes the function that asks. What a login gets wrong is logged, each fault once. */
export function asker(log: Pick<Log, 'error'>): Ask {
  const reported = new WeakMap<ProjectLogin, Set<string>>()
  const nonsense = (login: ProjectLogin, event: AskedEvent, reason: string): HeddleError => {
    const faults = reported.get(login) ?? new Set()
    reported.set(login, faults)
    const fault = `${event} ${reason}`
    if (!faults.has(fault) && faults.size < faultsMax) {
      faults.add(fault)
      log.error('A handler of the login of a project gave an answer that cannot be kept.', {
        event,
        reason,
      })
    }
    return loginFault()
  }
  return async ({ user, login }, event, value) => {
    if (login === undefined || user === undefined) return { value }
    if (!handlerNames(event).some((name) => login.events.includes(name))) return { value }
    const [resource, action] = event.split(':') as [AskedAction['resource'], string]
    const answer = await login.on({ resource, action, value, user })
    if (answer.kind === 'refused') throw refusalOf(answer)
    try {
      return { value: valueOf(answer, event, value), filter: filterOf(answer) }
    } catch (error) {
      throw nonsense(login, event, (error as Error).message)
    }
  }
}

/** Faults of one login that are logged. */
const faultsMax = 100

type Kept = Extract<ActionAnswer, { readonly kind: 'allowed' }>

function filterOf({ filter }: Kept): MetadataFilter | undefined {
  return filter === undefined ? undefined : readMetadataFilter(filter)
}

/** The value with what the handler may change. Throws for what it may not. */
function valueOf({ value: left }: Kept, event: AskedEvent, asked: AskedValue): AskedValue {
  if (left === undefined) return asked
  if (!isObject(left)) throw new TypeError('The value must stay an object')
  const names = mutable[event] ?? []
  for (const [name, before] of Object.entries(asked)) {
    if (names.includes(name) || name === 'metadata' || before === undefined) continue
    if (isDeepStrictEqual(asJson(before), left[name])) continue
    throw new TypeError(`It changed ${name}, which a handler may not change`)
  }
  const changed = names.filter((name) => Object.hasOwn(left, name))
    .map((name) => [name, left[name]] as const)
  const next: AskedValue = { ...asked, ...Object.fromEntries(changed) }
  if (next['metadata'] != null && !isObject(next['metadata'])) {
    throw new TypeError('metadata must stay an object')
  }
  return next
}

/** As it is after it went to the handler and came back. */
function asJson(value: unknown): unknown {
  return typeof value === 'object' ? JSON.parse(JSON.stringify(value)) as unknown : value
}
