/** Routes that delete traces. */

export { bulkDeletionRoutes } from './bulk-deletions.ts'
export { traceDeletionRoutes } from './trace-deletions.ts'
