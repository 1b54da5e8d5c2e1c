/** Groups of routes that a langgraph.json turns off. */

import { z } from 'zod'

import { routeGroups } from '../app/route-groups.ts'
import type { RouteGroup } from '../app/route-groups.ts'

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
