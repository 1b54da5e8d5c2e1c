/**
 * Access settings of a langgraph.json: guards, which are not offered yet, and groups of routes that
 * are off. A project that counts on a guard must not be served without it: what it guards would be
 * open to every caller.
 */

import { readFile } from 'node:fs/promises'

import { z } from 'zod'

import { asksForSomething, memberAt } from '../app/config-members.ts'
import { routeGroups } from '../app/route-groups.ts'
import type { RouteGroup } from '../app/route-groups.ts'

/** Keys that may guard, and what is missing without them. */
const guards = { auth: 'every caller would see and do everything' } as const

/** Why a project may not be served; undefined if it may. */
export function guardFault(config: unknown): string | undefined {
  const named = Object.entries(guards).filter(([key]) => asksForSomething(memberAt(config, key)))
  if (named.length === 0) return undefined
  const reasons = named.map(([key, loss]) => `${key} is not offered yet: ${loss}`)
  return `${reasons.join('; ')}. Remove ${named.map(([key]) => key).join(' and ')}, or say ` +
    '--ignore-auth to go on without'
}

/** The same for a file; undefined for one that cannot be read, too. Loads nothing. */
export async function guardFaultOfFile(file: string): Promise<string | undefined> {
  try {
    return guardFault(JSON.parse((await readFile(file, 'utf8')).replace(/^\uFEFF/, '')))
  } catch {
    return undefined
  }
}

const flag = () => z.boolean('must be true or false').nullish()

/** The keys below `http` that turn a group off. */
export const disablingShape = { disable_assistants: flag(), disable_threads: flag(),
  disable_runs: flag(), disable_store: flag(), disable_meta: flag(), disable_ui: flag(),
  disable_mcp: flag(), disable_a2a: flag() }

type Disabling = Readonly<Partial<Record<`disable_${RouteGroup}`, boolean | null | undefined>>>

/** The groups that are off. */
export function disabledRoutesOf(http: Disabling | null | undefined): RouteGroup[] {
  return routeGroups.filter((group) => http?.[`disable_${group}`] === true)
}
