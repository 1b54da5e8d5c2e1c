/** Routes that a project turns off by `http.disable_…` of its langgraph.json. */

import { HeddleError } from '../../errors.ts'
import type { RouteGroup } from '../../graph/index.ts'
import { dividedAtResource } from './target.ts'

const services: Readonly<Record<string, readonly RouteGroup[]>> = {
  AssistantService: ['assistants'],
  ThreadService: ['threads'],
  RunService: ['runs'],
  CronService: ['runs'],
  StoreService: ['store'],
}

const roots: Readonly<Record<string, readonly RouteGroup[]>> = { assistants: ['assistants'],
  threads: ['threads'], runs: ['runs'], store: ['store'], info: ['meta'], docs: ['meta'],
  'openapi.json': ['meta'], ui: ['ui'], mcp: ['mcp'], a2a: ['a2a'] }

/** Commands and events of protocol v2 are about a thread and its runs. */
const ofBoth: readonly string[] = ['/threads/:thread_id/commands',
  '/threads/:thread_id/stream/events', '/frontdoor.v1.ThreadService/FollowThread']

/**
 * The groups that the pattern of a route is part of. `/ok` and `/metrics` are in none: they are for
 * whoever operates the server.
 */
export function groupsOf(pattern: string): readonly RouteGroup[] {
  if (ofBoth.includes(pattern)) return ['threads', 'runs']
  if (pattern.startsWith('/.well-known/agent')) return ['a2a']
  const [about, path] = dividedAtResource(pattern)
  if (about !== '') return groupsOf(path)
  const [, first = '', second, third] = pattern.split('/')
  if (first.startsWith('frontdoor.v1.')) return services[first.slice('frontdoor.v1.'.length)] ?? []
  if (first === 'threads' && second === ':thread_id' && third === 'runs') return ['runs']
  return roots[first] ?? []
}

/** Throws `not_found` for a route of a group that is off. */
export function requireEnabled(pattern: string | undefined,
  disabled: readonly RouteGroup[] | undefined): void {
  if (pattern === undefined || disabled === undefined || disabled.length === 0) return
  const group = groupsOf(pattern).find((each) => disabled.includes(each))
  if (group === undefined) return
  throw new HeddleError('not_found',
    `This project does not serve these routes: http.disable_${group} of its langgraph.json.`)
}
