/** Routes of projects, which are sessions on this wire, and of their saved views. */

export { sessionRoutesV2 } from './sessions-v2.ts'
export { filtersOf, sessionRoutes, statsOf } from './sessions.ts'
export { viewRoutes } from './views.ts'
