/** The groups of routes that a langgraph.json may turn off. */

/** Groups of routes that a project may turn off. */
export const routeGroups = ['assistants', 'threads', 'runs', 'store', 'meta', 'ui', 'mcp',
  'a2a'] as const

/** Name of one group of routes. */
export type RouteGroup = typeof routeGroups[number]
